// The face of controls. What is to come here, for those who build on it:
//   findAssertions(path, text): readonly Assertion[]
//   controlsFor(check, view, seenTests): readonly Control[]
//   suppliedControls(controls, read): readonly Control[]      wrong tests the publisher supplies
//   standIns(view, subjectPaths): readonly StandIn[]          empty and constant results, for `check --strength`
export interface StandIn {
  /** Such as `functions that return 0`. */
  readonly name: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}
