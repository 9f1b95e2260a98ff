// apis/endpoints.json: the interfaces an agent may call. Schema references are relative to apis/.
import { z } from "zod";

export const Endpoint = z.looseObject({
  method: z.string().min(1),
  path: z.string().min(1),
  description: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  body_schema: z.string().optional(),
  response_schema: z.string().optional(),
});

export const Endpoints = z
  .looseObject({
    api_version: z.string().optional(),
    base_url: z.string().optional(),
    auth: z
      .looseObject({
        type: z.string().optional(),
        credential_ref: z.string().optional().describe("a credential's name, not a path"),
      })
      .optional(),
    endpoints: z.array(Endpoint),
  })
  .describe("Nutshell v0.2.0 API description, apis/endpoints.json");

export type Endpoints = z.infer<typeof Endpoints>;
