// Giving a finished bundle its name. Two runs may have chosen the same one hours ago; neither may write over the other's.
import { renameOver, takeName } from "../../files/index.js";

/**
 * Moves `temporary` to `wanted`, or to the next free name after it when somebody else's file is there. A file of the same
 * delivery, which a killed process left, is replaced. Returns the name it got.
 */
export async function placeBundle(
  temporary: string,
  wanted: string,
  isOurs: (path: string) => Promise<boolean>,
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? wanted : wanted.replace(/(\.nut)?$/, `-${number}$1`);
    if (takeName(temporary, path)) return path;
    if (await isOurs(path)) {
      renameOver(temporary, path);
      return path;
    }
  }
}
