/**
 * The documentation of an operation beside its schemas, for `/openapi.json` and `/docs`: its
 * responses and an example.
 */
import type { z } from 'zod'

export type ResponseDoc = {
  description: string
  schema?: z.ZodType
  contentType?: string
  /** Clients that prefer CSV get the response as a table (`exchange/table.ts`). */
  isTableToo?: boolean
  /** Descriptions of header fields, by name. */
  headers?: Readonly<Record<string, string>>
}

/**
 * An example of an operation. A test sends each request and compares the response. All examples
 * share their ids: one id always means the same record. The id of a job contains milliseconds,
 * which are compared as an id too: they differ from job to job.
 */
export type OperationExample = {
  /** Parameters of the path, by name. */
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  /** The JSON body, or the fields of a form. The file of a form is given as text. */
  request?: unknown
  status: number
  /** JSON or a text; absent when the response has no body. */
  response?: unknown
}
