// What the page and the layout worker say to each other.
export interface LayoutQuestion {
  readonly key: string;
  readonly nodes: readonly number[];
  readonly edges: readonly (readonly [from: number, to: number])[];
}

export interface LayoutAnswer {
  readonly key: string;
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (readonly [id: number, x: number, y: number])[];
  readonly edges: readonly (readonly [from: number, to: number, points: readonly number[]])[];
}

export const NODE_WIDTH = 196;
export const NODE_HEIGHT = 58;
