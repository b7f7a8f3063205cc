/**
 * An operation as a client uses it. `/openapi.json` and `/docs` show the examples; a test sends each
 * request and compares the answer. The ids of all examples belong to one story, in which the same
 * id is the same thing.
 */
export type OperationExample = {
  /** By name, as they stand in the path. */
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  /** The JSON body; of a form its fields, a file as its text. */
  request?: unknown
  status: number
  /** JSON, or a text; left out where the answer has no body. */
  response?: unknown
}

/** By method and path: `POST /v1/send`. */
export type Examples = Readonly<Record<string, OperationExample>>
