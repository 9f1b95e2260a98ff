// A filter for system calls, as the kernel's BPF bytes. It closes what no mount and no name space does: the person's keys in
// the kernel, sockets that lead past a network of one's own (to the machine a virtual one runs on, to radios), and in a
// check one process reaching into another. Programs that meet it get an error, as in many containers. Calls made through
// another ABI (32-bit, x32) would have other numbers, so they are refused whole.
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Abi {
  /** AUDIT_ARCH_… of the kernel's audit.h. */
  readonly arch: number;
  /** From this number on calls belong to another ABI; null when there is none. */
  readonly foreignFrom: number | null;
  readonly denied: readonly number[];
  readonly socket: number;
}

/**
 * ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd, perf_event_open, bpf, userfaultfd, keyctl, add_key, request_key;
 * io_uring_setup, _enter, _register, which would open sockets that this filter does not see.
 */
const ABIS: Readonly<Record<string, Abi>> = {
  x64: {
    arch: 0xc000003e,
    foreignFrom: 0x40000000,
    denied: [101, 310, 311, 312, 438, 298, 321, 323, 250, 248, 249, 425, 426, 427],
    socket: 41,
  },
  arm64: {
    arch: 0xc00000b7,
    foreignFrom: null,
    denied: [117, 270, 271, 272, 438, 241, 280, 282, 219, 217, 218, 425, 426, 427],
    socket: 198,
  },
};

const TRACING = new Set([101, 117]);

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const EAFNOSUPPORT = 0x00050061;
/** Where the kernel puts the number of the call, its ABI and its first argument. */
const [NUMBER, ABI, FIRST_ARGUMENT] = [0, 4, 16];
const KILL_PROCESS = 0x80000000;

/** null where we know no numbers: another processor. `ptrace` lets a debugger work. */
export function seccompFilter(arch: string = process.arch, { ptrace = false } = {}): Buffer | null {
  const abi = ABIS[arch];
  if (abi === undefined) return null;
  const denied = abi.denied.filter((call) => !(ptrace && TRACING.has(call)));
  const rows: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [LOAD, 0, 0, ABI],
    [JUMP_EQUAL, 1, 0, abi.arch],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    ...(abi.foreignFrom === null
      ? []
      : ([
          [JUMP_AT_LEAST, 0, 1, abi.foreignFrom],
          [RETURN, 0, 0, EPERM],
        ] as [number, number, number, number][])),
    ...denied.flatMap((call): [number, number, number, number][] => [
      [JUMP_EQUAL, 0, 1, call],
      [RETURN, 0, 0, EPERM],
    ]),
    // Whatever is not one of them falls through to the refusal; every other call jumps over all of it.
    [JUMP_EQUAL, 0, FAMILIES.length + 2, abi.socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    ...FAMILIES.map((family, index): [number, number, number, number] => [
      JUMP_EQUAL,
      FAMILIES.length - index,
      0,
      family,
    ]),
    [RETURN, 0, 0, EAFNOSUPPORT],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(rows.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of rows.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}

/** Made once: an open file without a name, by whether it allows tracing. */
const filters = new Map<boolean, number>();

/** The filter as an open file that bubblewrap reads; null where there is none. The caller closes it. */
export function openFilter({ ptrace = false }: { readonly ptrace?: boolean } = {}): number | null {
  const bytes = filters.has(ptrace) ? null : seccompFilter(process.arch, { ptrace });
  if (bytes !== null) filters.set(ptrace, namelessFile(bytes));
  const made = filters.get(ptrace);
  if (made === undefined) return null;
  // Opened anew, so that whoever reads it begins at the beginning.
  return openSync(`/proc/self/fd/${made}`, "r");
}

function namelessFile(bytes: Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), "nut-filter-"));
  const path = join(folder, "filter");
  const file = openSync(path, "wx+", 0o600);
  try {
    writeSync(file, bytes);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  } finally {
    rmSync(path, { force: true });
    rmdirSync(folder);
  }
}
