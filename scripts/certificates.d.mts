export function leaveCertificates(root: string): void;
