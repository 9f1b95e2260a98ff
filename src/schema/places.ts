// Names under which tasks made for containers know their folders. A closed list: none of them is the system's own.
export const ROOM_PLACES = [
  "/app",
  "/workspace",
  "/work",
  "/workdir",
  "/testbed",
  "/src",
  "/code",
  "/project",
  "/tests",
  "/logs",
] as const;

/** Path in the tree by its absolute name; null is an empty folder in memory. */
export type RoomPlaces = Readonly<Partial<Record<(typeof ROOM_PLACES)[number], string | null>>>;
