// Names and titles come from strangers. What could hide, reorder or imitate text is written out instead.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** A link a person may follow: to the web or a mail address, never into script or a local file. */
export function safeLink(target: string): string | null {
  const clean = target.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(clean) || /[\u0000-\u001f]/.test(clean)) return null;
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(clean).protocol) ? clean : null;
  } catch {
    return null;
  }
}

/** Where a link leads, when its text names another place: `https://bank.example` that opens evil.example. */
export function leadsTo(text: string, href: string): string | null {
  const target = placeOf(href);
  const said = [...text.matchAll(ADDRESS)].map(([address]) => placeOf(address));
  return said.every((place) => place === target) ? null : target;
}

/** Addresses as people write them, with or without their scheme, and mail addresses. */
const ADDRESS =
  /(?:https?:\/\/|mailto:|www\.)[^\s<>"]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w@./-])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?=\/|:\d|$|\s)/gi;

function placeOf(address: string): string {
  const mail = /^(?:mailto:)?([^/?]+@[^/?]+)/i.exec(address)?.[1];
  if (mail !== undefined && !/^https?:/i.test(address)) return mail.toLowerCase();
  try {
    const { host } = new URL(/^https?:\/\//i.test(address) ? address : `https://${address}`);
    return host.replace(/^www\./, "");
  } catch {
    return address.toLowerCase();
  }
}

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${count} B` : `${value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

export function amount(count: number): string {
  if (count < 10_000) return count.toLocaleString("en-US");
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : many}`;
}

/** `3 min ago`, `in 2 days`. */
export function relative(at: string, now: number): string {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return visible(at);
  const seconds = Math.round((time - now) / 1000);
  const size = Math.abs(seconds);
  const [value, unit] =
    size < 60
      ? [size, "s"]
      : size < 3_600
        ? [size / 60, "min"]
        : size < 86_400
          ? [size / 3_600, "h"]
          : [size / 86_400, Math.round(size / 86_400) === 1 ? "day" : "days"];
  if (size < 5) return "now";
  const span = `${Math.round(value)} ${unit}`;
  return seconds < 0 ? `${span} ago` : `in ${span}`;
}

export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const [large, small, names] =
    seconds < 3_600
      ? [seconds / 60, seconds % 60, ["min", "s"]]
      : [seconds / 3_600, (seconds % 3_600) / 60, ["h", "min"]];
  const rest = Math.floor(small);
  return `${Math.floor(large)} ${names[0]}${rest === 0 ? "" : ` ${rest} ${names[1]}`}`;
}

/** The time of day where the reader is, to the second. */
export function clock(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? "" : new Date(time).toLocaleTimeString("en-GB", { hour12: false });
}

/** `PT1H30M` as people say it, whatever else as it is written. */
export function effort(text: string): string {
  const [, days, hours, minutes] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(text) ?? [];
  const parts = [
    days === undefined ? "" : plural(Number(days), "day"),
    hours === undefined ? "" : `${hours} h`,
    minutes === undefined ? "" : `${minutes} min`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? visible(text) : parts.join(" ");
}

export function day(at: string): string {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return visible(at);
  return new Date(time).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
}
