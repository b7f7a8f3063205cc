/**
 * Reads a form with one file (multipart/form-data, RFC 7578) as it arrives. The file goes to `write`
 * piece by piece, at the speed of `write`. The other fields are short and are returned as
 * texts. An invalid form is still read to its end, within its limit, so that the client receives
 * the response.
 */
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { AppError, type FieldError, invalid } from '../../base/errors.ts'
import { tooLarge } from './body.ts'
import type { BodyStream } from './body-stream.ts'

export type FormOptions = {
  /** The name of the field with the file. */
  fileField: string
  /**
   * The text fields whose values are returned. Of all other text fields only the names are
   * returned.
   */
  fields: readonly string[]
  maxFileBytes: number
  /** Returns the reason to refuse a file; undefined for a file that is accepted. */
  refuse(file: FormFile): string | undefined
  /** Takes the next piece of the file. It is called again only after its promise has settled. */
  write(bytes: Uint8Array): Promise<void>
}

type FormFile = {
  /** The file's name without folders; '' if the part has no filename. */
  filename: string
  /** The content type of the part, in lower case and without parameters. */
  contentType: string
}

type MultipartForm = {
  file: FormFile
  fields: Record<string, string>
  /** The shortened names of text fields that are not in `fields`. */
  unknownFields: string[]
}

const MAX_FIELD_BYTES = 256 * 1024
const MAX_PARTS = 20
const MAX_PART_HEADER_BYTES = 16 * 1024
/** The most bytes of a form beside the file: all other fields, and everything around the parts. */
export const MAX_OTHER_BYTES = 512 * 1024
const SHOWN_NAME_LENGTH = 100

/**
 * @throws AppError VALIDATION_ERROR: 400 for a body that is not such a form, 422 for invalid
 *   fields; PAYLOAD_TOO_LARGE; BAD_REQUEST when the body is cut off; the errors of `write`. `write`
 *   has settled before this throws
 */
export async function readMultipart(
  body: BodyStream,
  options: FormOptions,
): Promise<MultipartForm> {
  const form = openForm(createParser(body), options)
  try {
    for await (const piece of body.read(options.maxFileBytes + MAX_OTHER_BYTES)) {
      await form.push(piece)
    }
    return await form.end()
  } catch (error) {
    await form.abandon()
    throw error
  }
}

/** @throws AppError VALIDATION_ERROR 400 */
function createParser({ contentType = '' }: BodyStream): InstanceType<typeof Busboy> {
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(contentType)) {
    throw malformed('The body is not multipart/form-data.')
  }
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        fieldSize: MAX_FIELD_BYTES,
        parts: MAX_PARTS,
        headerSize: MAX_PART_HEADER_BYTES,
      },
      isPartAFile: (_name, type, filename) => filename !== undefined || type === 'text/csv',
    })
  } catch (error) {
    throw malformed('The Content-Type names no boundary.', error)
  }
}

type Form = {
  /** Resolves when the parser takes more; input after a failure is ignored. */
  push(piece: Uint8Array): Promise<void>
  end(): Promise<MultipartForm>
  /** Resolves when all writes have ended. */
  abandon(): Promise<void>
}

/** The parts of a form that have been read. */
type FormState = {
  options: FormOptions
  file: { info: FormFile; stream: Readable; written: Promise<void> } | undefined
  fields: Map<string, string>
  unknownFields: Set<string>
  faults: FieldError[]
}

function openForm(parser: InstanceType<typeof Busboy>, options: FormOptions): Form {
  const state: FormState = {
    ...{ options, file: undefined, fields: new Map(), faults: [] },
    unknownFields: new Set(),
  }
  const { promise: parsed, resolve, reject } = Promise.withResolvers<void>()
  let hasFailed = false
  let goOn: (() => void) | undefined
  const fail = (error: unknown): void => {
    hasFailed = true
    reject(error)
    goOn?.()
  }
  // `end` reports a failure; until it is called nothing awaits the promise.
  parsed.catch(() => undefined)
  parser.on('file', (name, stream, filename, _encoding, type) => {
    const info = { filename: filename ?? '', contentType: type.toLowerCase() }
    takeFile(state, { name, stream, info })?.catch(fail)
  })
  parser.on('field', (name, value, _isNameCut, isCut) => takeField(state, { name, value, isCut }))
  parser.on('partsLimit', () => fail(malformed(`The form has more than ${MAX_PARTS} parts.`)))
  parser.on('error', (error) => fail(malformed('The form cannot be read.', error)))
  parser.on('finish', resolve)
  return {
    async push(piece) {
      if (hasFailed || parser.write(piece)) return
      await new Promise<void>((resolve) => {
        goOn = resolve
        parser.once('drain', resolve)
        if (hasFailed) resolve()
      })
    },
    async end() {
      if (!hasFailed) parser.end()
      await parsed
      await state.file?.written
      return finish(state)
    },
    async abandon() {
      state.file?.stream.destroy()
      await Promise.allSettled([state.file?.written])
    },
  }
}

type FilePart = { name: string | undefined; stream: Readable; info: FormFile }

/** Begins to write the file; returns undefined for a file that is refused. */
function takeFile(state: FormState, { name, stream, info }: FilePart): Promise<void> | undefined {
  const refusal = refusalOf(state, name, info)
  if (refusal !== undefined) {
    state.faults.push(refusal)
    stream.on('error', ignore).resume()
    return undefined
  }
  const written = writeFile(stream, state.options)
  state.file = { info, stream, written }
  return written
}

function refusalOf(
  { options, file }: FormState,
  name: string | undefined,
  info: FormFile,
): FieldError | undefined {
  const { fileField, fields, refuse } = options
  if (name !== fileField) {
    return fields.includes(name ?? '') ? wrong(name, 'Must not be a file') : unknown(name)
  }
  if (file !== undefined) return wrong(name, 'One file at a time')
  const reason = refuse(info)
  return reason === undefined ? undefined : wrong(name, reason)
}

/** @throws AppError PAYLOAD_TOO_LARGE; Error when the form ends within the file */
async function writeFile(stream: Readable, { maxFileBytes, write }: FormOptions): Promise<void> {
  let sizeBytes = 0
  for await (const bytes of stream as AsyncIterable<Buffer>) {
    sizeBytes += bytes.length
    if (sizeBytes > maxFileBytes) throw tooLarge(maxFileBytes)
    await write(bytes)
  }
}

type FieldPart = { name: string | undefined; value: string; isCut: boolean }

function takeField({ options, fields, unknownFields, faults }: FormState, part: FieldPart): void {
  const { name, value, isCut } = part
  if (name === options.fileField) faults.push(wrong(name, 'Must be a file, with a filename'))
  else if (name === undefined) return
  else if (!options.fields.includes(name)) unknownFields.add(shorten(name))
  else if (fields.has(name)) faults.push(wrong(name, 'Given twice'))
  else if (isCut) faults.push(wrong(name, `Longer than ${MAX_FIELD_BYTES} bytes`, 'too_big'))
  else fields.set(name, value)
}

/** @throws AppError VALIDATION_ERROR */
function finish({ options, file, fields, unknownFields, faults }: FormState): MultipartForm {
  const { fileField } = options
  if (file === undefined && !faults.some(({ field }) => field === fileField)) {
    faults.push({ ...wrong(fileField, 'Required', 'invalid_type'), received: 'undefined' })
  }
  if (file === undefined || faults.length > 0) throw invalid(faults)
  return {
    file: file.info,
    fields: Object.fromEntries(fields),
    unknownFields: [...unknownFields],
  }
}

function wrong(name: string | undefined, message: string, code = 'custom'): FieldError {
  return { field: shorten(name ?? ''), message, code }
}

function shorten(name: string): string {
  return name.slice(0, SHOWN_NAME_LENGTH).toWellFormed()
}

function unknown(name: string | undefined): FieldError {
  return wrong(name, 'There is no such field', 'unrecognized')
}

function ignore(): void {
  return
}

function malformed(text: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_ERROR', text, {
    status: 400,
    cause,
    suggestion: 'Send multipart/form-data with a boundary, as "curl -F" does.',
  })
}
