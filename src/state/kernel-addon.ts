import { createRequire } from "node:module";

export interface Kernel {
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
}

/** The addon itself: a whole file is locked from 0, of length 0. */
interface Binding {
  tryLock(fd: number, offset: number, length: number, exclusive: boolean): void;
  unlock(fd: number, offset: number, length: number): void;
}

/**
 * The addon as npm installed it. A single-file executable carries the one of its platform instead: see scripts. The package looks for its
 * own file with four further packages, which takes longer than most commands; where it lies is tried first.
 */
export function loadAddon(): Kernel {
  const require = createRequire(import.meta.url);
  const { platform, arch } = process;
  try {
    return asKernel(require(`fs-native-extensions/prebuilds/${platform}-${arch}/fs-native-extensions.node`) as Binding);
  } catch {
    return require("fs-native-extensions") as Kernel;
  }
}

function asKernel(binding: Binding): Kernel {
  return {
    tryLock(fd) {
      try {
        binding.tryLock(fd, 0, 0, true);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EAGAIN") return false;
        throw error;
      }
    },
    unlock: (fd) => binding.unlock(fd, 0, 0),
  };
}
