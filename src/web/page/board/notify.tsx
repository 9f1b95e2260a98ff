// A word from the browser when something new waits for the person, for those who asked for it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { WaitingNow } from "../../board/model.js";
import { visible } from "../visible.js";

const CHOSEN = "nutcracker-notify";

export function Notify({ waiting }: { waiting: WaitingNow }) {
  const isPossible = "Notification" in globalThis;
  const [isOn, setOn] = useState(
    () => isPossible && Notification.permission === "granted" && localStorage.getItem(CHOSEN) === "on",
  );
  const told = useRef(waiting.count);
  useEffect(() => {
    if (isOn && waiting.count > told.current) {
      new Notification("Nexus needs you", { body: visible(waiting.words).slice(0, 300), tag: "nutcracker" });
    }
    told.current = waiting.count;
  }, [waiting.count, isOn]);
  if (!isPossible) return null;
  const choose = async () => {
    const wanted = !isOn && (await Notification.requestPermission()) === "granted";
    localStorage.setItem(CHOSEN, wanted ? "on" : "off");
    setOn(wanted);
  };
  return (
    <button type="button" class="plain notify" aria-pressed={isOn} onClick={() => void choose()}>
      Notify me
    </button>
  );
}
