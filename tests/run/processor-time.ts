/** Processor time of a piece of work in milliseconds, the best of three: other programs on the machine do not count. */
export function processorMs(work: () => unknown): number {
  const once = () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  return Math.min(once(), once(), once());
}
