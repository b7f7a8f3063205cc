/**
 * A form with one file (multipart/form-data, RFC 7578), read as it comes: the file goes to a sink
 * piece by piece, and the form is read no faster than the sink takes it; the fields beside it are
 * short and come back as texts. A form that is wrong is read to its end all the same, within its
 * limit, so that its sender hears the answer.
 */
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { AppError, type FieldError, invalid } from '../../errors.ts'
import { tooLarge } from './body.ts'
import type { BodyStream } from './body-stream.ts'

export type FormOptions = {
  /** The name of the field with the file. */
  fileField: string
  /** The names of the text fields that are wanted; others are read over. */
  fields: readonly string[]
  maxFileBytes: number
  /** What is wrong with such a file, if anything. */
  refuse(file: FormFile): string | undefined
  /** Takes the next piece of the file; never called again before it has settled. */
  write(bytes: Uint8Array): Promise<void>
}

export type FormFile = {
  /** Without folders; '' where it has none. */
  filename: string
  /** Lower case, without parameters. */
  contentType: string
}

export type ReadForm = { file: FormFile; fields: Record<string, string> }

const MAX_FIELD_BYTES = 256 * 1024
const MAX_PARTS = 20
const MAX_PART_HEADER_BYTES = 16 * 1024
/** All fields, and what surrounds the parts. */
export const MAX_OTHER_BYTES = 512 * 1024
const SHOWN_NAME_LENGTH = 100

/**
 * @throws AppError VALIDATION_ERROR: 400 for what is no such form, 422 for one with the wrong fields;
 * PAYLOAD_TOO_LARGE; BAD_REQUEST when it is cut off; what `write` throws. By then `write` has settled
 */
export async function readForm(body: BodyStream, options: FormOptions): Promise<ReadForm> {
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
  /** Resolves when there is room for more; what comes after a failure is not looked at. */
  push(piece: Uint8Array): Promise<void>
  end(): Promise<ReadForm>
  /** Resolves when the sink is left alone. */
  abandon(): Promise<void>
}

/** What of a form has been read. */
type Reading = {
  options: FormOptions
  file: { info: FormFile; stream: Readable; written: Promise<void> } | undefined
  fields: Map<string, string>
  wrong: FieldError[]
}

function openForm(parser: InstanceType<typeof Busboy>, options: FormOptions): Form {
  const reading: Reading = { options, file: undefined, fields: new Map(), wrong: [] }
  const { promise: parsed, resolve, reject } = Promise.withResolvers<void>()
  let hasFailed = false
  let goOn: (() => void) | undefined
  const fail = (error: unknown): void => {
    hasFailed = true
    reject(error)
    goOn?.()
  }
  // Whoever is told of a failure is told by `end`; until then nobody may be waiting.
  parsed.catch(() => undefined)
  parser.on('file', (name, stream, filename, _encoding, type) => {
    const info = { filename: filename ?? '', contentType: type.toLowerCase() }
    takeFile(reading, { name, stream, info })?.catch(fail)
  })
  parser.on('field', (name, value, _isNameCut, isCut) => takeField(reading, { name, value, isCut }))
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
      await reading.file?.written
      return finish(reading)
    },
    async abandon() {
      reading.file?.stream.destroy()
      await Promise.allSettled([reading.file?.written])
    },
  }
}

type FilePart = { name: string | undefined; stream: Readable; info: FormFile }

/** Undefined for one that is not wanted. */
function takeFile(reading: Reading, { name, stream, info }: FilePart): Promise<void> | undefined {
  const refusal = whyNot(reading, name, info)
  if (refusal !== undefined) {
    reading.wrong.push(refusal)
    stream.on('error', ignore).resume()
    return undefined
  }
  const written = writeFile(stream, reading.options)
  reading.file = { info, stream, written }
  return written
}

function whyNot(
  { options, file }: Reading,
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

function takeField({ options, fields, wrong: list }: Reading, part: FieldPart): void {
  const { name, value, isCut } = part
  if (name === options.fileField) list.push(wrong(name, 'Must be a file, with a filename'))
  else if (name === undefined || !options.fields.includes(name)) return
  else if (fields.has(name)) list.push(wrong(name, 'Given twice'))
  else if (isCut) list.push(wrong(name, `Longer than ${MAX_FIELD_BYTES} bytes`, 'too_big'))
  else fields.set(name, value)
}

/** @throws AppError VALIDATION_ERROR */
function finish({ options, file, fields, wrong: list }: Reading): ReadForm {
  const { fileField } = options
  if (file === undefined && !list.some(({ field }) => field === fileField)) {
    list.push({ ...wrong(fileField, 'Required', 'invalid_type'), received: 'undefined' })
  }
  if (file === undefined || list.length > 0) throw invalid(list)
  return { file: file.info, fields: Object.fromEntries(fields) }
}

function wrong(name: string | undefined, message: string, code = 'custom'): FieldError {
  return { field: (name ?? '').slice(0, SHOWN_NAME_LENGTH), message, code }
}

function unknown(name: string | undefined): FieldError {
  return wrong(name, 'There is no such field', 'unrecognized_keys')
}

function ignore(): void {
  return
}

function malformed(text: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_ERROR', text, {
    status: 400,
    cause,
    suggestion: 'Send multipart/form-data with a boundary, as "curl -F file=@list.csv" does.',
  })
}
