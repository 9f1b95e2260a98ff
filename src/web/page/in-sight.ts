// Brings an element into sight when it is chosen: once, not whenever the page is drawn again. A board is drawn every second,
// and whoever has moved on meanwhile is not to be pulled back.
import { type MutableRef, useEffect, useRef } from "preact/hooks";

export function useInSight(isChosen: boolean, block: "start" | "nearest"): MutableRef<HTMLElement | null> {
  const element = useRef<HTMLElement | null>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block });
  }, [isChosen]);
  return element;
}
