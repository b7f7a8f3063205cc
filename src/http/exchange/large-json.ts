/**
 * JSON responses of records that may be large, such as a template with its body, or a job. A large response is
 * serialized piece by piece while it is sent, so that it does not block the event loop.
 */
import type { Core } from '../../core/core.ts'
import { MAX_OUTPUT_LENGTH } from '../../formats/template/limits.ts'
import { findJobBytes } from '../../work/jobs/status.ts'
import { type HttpResponse, json } from '../response.ts'
import type { ProjectCall } from '../route.ts'
import { isShort, JSON_PIECE_LENGTH, jsonLengthOf, jsonPiecesOf, LEVELS } from './json-pieces.ts'

/** The memory that is reserved for an answer with one record before its size is known: twice a large text. */
export const RECORD_ANSWER_BYTES = 4 * 1024 * 1024

/** `answerBytes` of the operations that show a job. */
export const JOB_ANSWER_BYTES = RECORD_ANSWER_BYTES

/** The memory of a rendered text until its size is known. */
export const RENDERED_ANSWER_BYTES = 2 * MAX_OUTPUT_LENGTH

export function largeJson(status: number, value: unknown): HttpResponse {
  if (isShort(value)) return json(status, value)
  const chunks = chunksOf(value)
  const first = chunks.next().value ?? ''
  const second = chunks.next().value
  const { headers } = json(status, null)
  if (second === undefined) return { status, headers, value, body: first }
  const reservedBytes = 2 * jsonLengthOf(value)
  return { status, headers, value, body: streamChunks([first, second], chunks), reservedBytes }
}

/**
 * Waits for memory for the job of the path, and shows what `find` returns for it. A job needs
 * memory because its parameters and its result may be as large as its request was.
 */
export async function jobResponse(
  core: Core,
  call: ProjectCall<unknown, unknown>,
  find: (jobId: string) => Promise<unknown>,
): Promise<HttpResponse> {
  const { jobId = '' } = call.params
  const bytes = await findJobBytes(core, jobId)
  if (2 * bytes > JOB_ANSWER_BYTES) await call.reserve(2 * bytes)
  return largeJson(200, await find(jobId))
}

async function* streamChunks(
  begun: readonly string[],
  rest: Iterable<string>,
): AsyncGenerator<Uint8Array> {
  for (const chunk of begun) yield Buffer.from(chunk)
  for (const chunk of rest) yield Buffer.from(chunk)
}

function* chunksOf(value: unknown): Generator<string, undefined> {
  let made = ''
  for (const piece of jsonPiecesOf(value, LEVELS)) {
    made += piece
    if (made.length < JSON_PIECE_LENGTH) continue
    yield made
    made = ''
  }
  if (made !== '') yield made
}
