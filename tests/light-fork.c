// Loaded into the test workers before the C library: a program they start does not begin with a copy of their memory.
// A worker of 300 MB spends milliseconds on that copy, again on the pages both then write to, and again when the program takes the
// copy's place. Between fork and exec the child uses its parent's memory instead (vfork), and its parent stands still.
// What the child writes on the stack they share, and the environment it leaves in place, are put back before its parent goes on.
// Only where the main thread starts programs, since other threads go on meanwhile and the environment is everybody's; only on 64-bit
// x86. Whatever a worker starts knows nothing of this.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN char light_fork_stack[4096];
HIDDEN char **light_fork_environ;
HIDDEN void *light_fork_usual;

HIDDEN int light_fork_failed(int code) {
  errno = code;
  return -1;
}

__asm__(
    ".text\n"
    ".globl fork\n"
    ".type fork, @function\n"
    "fork:\n"
    "  movl $39, %eax\n"  // getpid
    "  syscall\n"
    "  movl %eax, %edx\n"
    "  movl $186, %eax\n"  // gettid
    "  syscall\n"
    "  cmpl %eax, %edx\n"
    "  je 1f\n"
    "  jmp *light_fork_usual(%rip)\n"
    "1:\n"
    // Where to return to must not lie on the shared stack: the child returns first.
    "  popq %r9\n"
    "  movq %rsp, %rsi\n"
    "  leaq light_fork_stack(%rip), %rdi\n"
    "  movl $4096, %ecx\n"
    "  rep movsb\n"
    "  movq environ@GOTPCREL(%rip), %rdx\n"
    "  movq (%rdx), %rax\n"
    "  movq %rax, light_fork_environ(%rip)\n"
    "  movl $58, %eax\n"  // vfork
    "  syscall\n"
    "  testl %eax, %eax\n"
    "  je 2f\n"
    "  leaq light_fork_stack(%rip), %rsi\n"
    "  movq %rsp, %rdi\n"
    "  movl $4096, %ecx\n"
    "  rep movsb\n"
    "  movq light_fork_environ(%rip), %rcx\n"
    "  movq %rcx, (%rdx)\n"
    "  testl %eax, %eax\n"
    "  jns 2f\n"
    "  movl %eax, %edi\n"
    "  negl %edi\n"
    "  pushq %r9\n"
    "  jmp light_fork_failed\n"
    "2:\n"
    "  pushq %r9\n"
    "  ret\n"
    ".size fork, .-fork\n");

__attribute__((constructor)) static void begin(void) {
  light_fork_usual = dlsym(RTLD_NEXT, "fork");
  unsetenv("LD_PRELOAD");
}
