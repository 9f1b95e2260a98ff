/** The last part of an address, made from a title. */
export function slug(title) {
  return title.toLowerCase().replace(/[^a-z0-9]/g, "-");
}
