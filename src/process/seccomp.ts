// A filter for system calls, as the kernel's BPF bytes. It keeps one process in a sandbox from reaching into another: no
// tracing, no foreign memory, no foreign file descriptors. Programs that meet it get EPERM, as in many containers.
// Calls made through another ABI (32-bit, x32) would have other numbers, so they are refused whole.
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Abi {
  /** AUDIT_ARCH_… of the kernel's audit.h. */
  readonly arch: number;
  /** From this number on calls belong to another ABI; null when there is none. */
  readonly foreignFrom: number | null;
  readonly denied: readonly number[];
}

/** ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd, perf_event_open, bpf, userfaultfd, keyctl, add_key, request_key. */
const ABIS: Readonly<Record<string, Abi>> = {
  x64: {
    arch: 0xc000003e,
    foreignFrom: 0x40000000,
    denied: [101, 310, 311, 312, 438, 298, 321, 323, 250, 248, 249],
  },
  arm64: {
    arch: 0xc00000b7,
    foreignFrom: null,
    denied: [117, 270, 271, 272, 438, 241, 280, 282, 219, 217, 218],
  },
};

const TRACING = new Set([101, 117]);

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const KILL_PROCESS = 0x80000000;

/** null where we know no numbers: another processor. `ptrace` lets a debugger work. */
export function seccompFilter(arch: string = process.arch, { ptrace = false } = {}): Buffer | null {
  const abi = ABIS[arch];
  if (abi === undefined) return null;
  const denied = abi.denied.filter((call) => !(ptrace && TRACING.has(call)));
  const rows: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [LOAD, 0, 0, 4],
    [JUMP_EQUAL, 1, 0, abi.arch],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, 0],
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

/** The filter as an open file that bubblewrap reads; null where there is none. The caller closes it. */
export function openFilter({ ptrace = false }: { readonly ptrace?: boolean } = {}): number | null {
  const bytes = seccompFilter(process.arch, { ptrace });
  if (bytes === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "nut-filter-"));
  try {
    const path = join(folder, "filter");
    writeFileSync(path, bytes, { mode: 0o600 });
    return openSync(path, "r");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
