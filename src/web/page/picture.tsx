// An image of the bundle.
import { useEffect, useState } from "preact/hooks";
import type { Source } from "./data.js";
import { visible } from "./visible.js";

interface PictureProps {
  readonly source: Source;
  readonly side: number;
  readonly path: string;
  readonly alt: string;
  readonly class?: string;
}

export function Picture({ source, side, path, alt, class: extra }: PictureProps) {
  const [address, setAddress] = useState<string | null | "loading">("loading");
  useEffect(() => {
    let shown: string | null = null;
    let wanted = true;
    source.image(side, path).then((found) => {
      shown = found;
      if (wanted) setAddress(found);
      else release(found);
    });
    return () => {
      wanted = false;
      release(shown);
    };
  }, [source, side, path]);
  if (address === "loading") return null;
  if (address === null) return <span class="raw">{`[image: ${visible(alt || path)}]`}</span>;
  return <img class={extra} src={address} alt={visible(alt)} />;
}

function release(address: string | null): void {
  if (address?.startsWith("blob:")) URL.revokeObjectURL(address);
}
