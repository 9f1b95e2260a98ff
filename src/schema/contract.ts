/** The version of the Nexus contract this product writes. Here by itself, so that reading it loads no schemas. */
export const CONTRACT_VERSION = "0.7";
