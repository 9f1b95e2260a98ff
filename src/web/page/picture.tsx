// An image of the bundle.
import { useEffect, useState } from "preact/hooks";
import { visible } from "./visible.js";

interface PictureProps {
  readonly load: () => Promise<string | null>;
  /** Loaded again when it changes. */
  readonly name: string;
  readonly alt: string;
  readonly class?: string;
}

export function Picture({ load, name, alt, class: extra }: PictureProps) {
  const [address, setAddress] = useState<string | null | "loading">("loading");
  useEffect(() => {
    let shown: string | null = null;
    let wanted = true;
    const show = (found: string | null) => {
      shown = found;
      if (wanted) setAddress(found);
      else release(found);
    };
    load().then(show, () => show(null));
    return () => {
      wanted = false;
      release(shown);
    };
  }, [name]);
  if (address === "loading") return null;
  if (address === null) return <span class="raw">{`[image: ${visible(alt)}]`}</span>;
  return <img class={extra} src={address} alt={visible(alt)} />;
}

function release(address: string | null): void {
  if (address?.startsWith("blob:")) URL.revokeObjectURL(address);
}
