// What came of the last thing that was done here. The form that did it is often gone by then.
import { useEffect, useState } from "preact/hooks";
import { visible } from "../visible.js";

let hear: (message: string) => void = () => {};

export function tell(message: string): void {
  hear(message);
}

export function Told() {
  const [message, setMessage] = useState("");
  useEffect(() => {
    hear = setMessage;
    return () => {
      hear = () => {};
    };
  }, []);
  return (
    <div role="status">
      {message === "" ? null : (
        <p class="notice good told">
          {visible(message)}{" "}
          <button type="button" class="plain" onClick={() => setMessage("")}>
            Close
          </button>
        </p>
      )}
    </div>
  );
}
