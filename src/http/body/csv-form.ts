/**
 * The upload of a CSV file as a form: the form's fields, and the file, which is stored piece by
 * piece.
 */
import { z } from 'zod'
import { MAX_KEY_LENGTH } from '../../features/contacts/write/data.ts'
import type { Core } from '../../features/core.ts'
import {
  isImportable,
  MAX_COLUMNS,
  normalizeHeader,
} from '../../features/import-export/csv/header.ts'
import { createImportFile, type ImportKind } from '../../features/import-export/import-file.ts'
import type { ProjectCall } from '../route.ts'
import { validate } from '../validation.ts'
import { MAX_OTHER_BYTES, readMultipart } from './multipart.ts'

const MAX_FILE_BYTES = 5 * 1024 * 1024
/** The limit of a whole form. */
export const MAX_CSV_FORM_BYTES = MAX_FILE_BYTES + MAX_OTHER_BYTES
/** Characters of a file's name that are stored. */
const MAX_FILENAME_LENGTH = 255

const field = z
  .string()
  .trim()
  .min(1)
  .max(MAX_KEY_LENGTH)
  .refine(isImportable, 'Contacts cannot have a field with this name')

const mapping = z
  .record(z.string(), field.nullable())
  .transform((columns) =>
    Object.entries(columns).map(([header, field]): [string, string | null] => [
      normalizeHeader(header),
      field,
    ]),
  )

const mappingText = z
  .string()
  .transform((text, context): unknown => {
    const columns = parseColumns(text)
    if (columns === undefined) {
      context.addIssue({ code: 'custom', message: 'Not JSON' })
      return z.NEVER
    }
    // Counted before validation, because validation adds an issue for each invalid column.
    if (Object.keys(columns ?? {}).length > MAX_COLUMNS) {
      const message = `More than ${MAX_COLUMNS} columns`
      context.addIssue({ code: 'custom', message, params: { code: 'too_big' } })
      return z.NEVER
    }
    return columns
  })
  .pipe(mapping)

const optional = {
  mapping: mappingText.optional(),
  types: z.enum(['values', 'strings']).default('values'),
  subscribed: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .default(true),
  resubscribe: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .default(false),
}

const readFields = z.object(optional)

/** The fields in the API's description, in which a form has only texts and files. */
const described = {
  file: z.string().meta({
    format: 'binary',
    description:
      'text/csv, or named *.csv; at most 5 MB. UTF-8 or UTF-16; rows that are no UTF-8 are read as Windows-1252; fields are separated by comma, semicolon, tab or |',
  }),
  mapping: z
    .string()
    .optional()
    .meta({
      description:
        'JSON: header -> field (`email`, `subscribed`, or a key of `data`); null leaves the column out',
      examples: ['{"E-Mail":"email","Tarif":"plan","Notes":null}'],
    }),
}

export const contactsForm = {
  contentType: 'multipart/form-data',
  schema: z.object({
    ...described,
    types: z.enum(['values', 'strings']).optional().meta({
      description:
        'values (default): a column of true, yes, false and no, or of plain decimal numbers, becomes booleans or numbers, if no cell loses a character by it or is in quotes; a field that contacts have keeps its type. strings: all data stays text',
    }),
    subscribed: z.enum(['true', 'false']).optional().meta({
      description: 'Whether new contacts are subscribed if their row does not say; true by default',
    }),
    resubscribe: z.enum(['true', 'false']).optional().meta({
      description:
        'Whether rows subscribe people who left by themselves or complained; false by default: they stay unsubscribed and are counted in `keptUnsubscribedCount`',
    }),
  }),
}

export const suppressionsForm = {
  contentType: 'multipart/form-data',
  schema: z.object(described),
}

/** Undefined if the text is not JSON. */
function parseColumns(text: string): object | null | undefined {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

type Form = { kind: ImportKind; fields: readonly (keyof typeof optional)[] }

/**
 * Stores the file and queues its import; returns the id of the job. A refused file leaves nothing.
 * @throws AppError VALIDATION_ERROR, PAYLOAD_TOO_LARGE, BAD_REQUEST, CONFLICT, DATABASE_ERROR
 */
export async function takeCsv(
  core: Pick<Core, 'store' | 'now' | 'jobNotifier'>,
  { project, stream }: ProjectCall<unknown, unknown>,
  { kind, fields }: Form,
): Promise<string> {
  if (stream === undefined) throw new TypeError('the route does not take a stream')
  const upload = createImportFile(core, { projectId: project.id, kind })
  try {
    const form = await readMultipart(stream, {
      fileField: 'file',
      fields,
      maxFileBytes: MAX_FILE_BYTES,
      refuse: ({ filename, contentType }) =>
        contentType === 'text/csv' || /\.csv$/i.test(filename) ? undefined : 'Must be a CSV file',
      write: upload.write,
    })
    const { mapping = [], types, ...rules } = validate(readFields, form.fields)
    const filename = form.file.filename.slice(0, MAX_FILENAME_LENGTH)
    return await upload.finish({ filename, mapping, areStrings: types === 'strings', ...rules })
  } catch (error) {
    await upload.discard()
    throw error
  }
}
