/**
 * An example of an operation, which `/openapi.json` and `/docs` show. A test sends each request and
 * compares the response. All examples share their ids: one id always means the same record. The
 * milliseconds in the id of a job are such an id too: each job has others.
 */
export type OperationExample = {
  /** Parameters of the path, by name. */
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  /** The JSON body, or the fields of a form with its file as text. */
  request?: unknown
  status: number
  /** JSON or a text; absent when the response has no body. */
  response?: unknown
}

/** Examples by method and path: `POST /v1/send`. */
export type Examples = Readonly<Record<string, OperationExample>>
