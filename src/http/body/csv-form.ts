/**
 * The upload of a CSV file as a form: the form's fields, and the file, which is stored piece by
 * piece.
 */
import { z } from 'zod'
import { AppError, type FieldWarning, invalid } from '../../base/errors.ts'
import { parseJsonText } from '../../base/json-text.ts'
import type { Core } from '../../core/core.ts'
import { MAX_KEY_LENGTH } from '../../features/people/contacts/write/data.ts'
import {
  isImportable,
  normalizeHeader,
} from '../../features/people/import-export/csv/column-names.ts'
import {
  createImportFile,
  type ImportKind,
} from '../../features/people/import-export/import-file.ts'
import { userIdOf } from '../../features/tenancy/accounts/callers/caller.ts'
import { MAX_CSV_COLUMNS, MAX_IMPORT_BYTES } from '../../records/limits.ts'
import type { ProjectCall } from '../route.ts'
import { createNameCheck, type NameCheck } from '../unknown-names.ts'
import { validate } from '../validation.ts'
import { MAX_OTHER_BYTES, readMultipart } from './multipart.ts'

const MIB = 1024 * 1024
/** The most bytes of a whole form. */
export const MAX_CSV_FORM_BYTES = MAX_IMPORT_BYTES + MAX_OTHER_BYTES
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
    // The columns are counted before validation, because validation adds an issue for each invalid
    // column.
    if (Object.keys(columns ?? {}).length > MAX_CSV_COLUMNS) {
      const message = `More than ${MAX_CSV_COLUMNS} columns`
      context.addIssue({ code: 'custom', message, params: { code: 'too_big' } })
      return z.NEVER
    }
    return columns
  })
  .pipe(mapping)

const flag = z.enum(['true', 'false']).transform((text) => text === 'true')

const optional = {
  mapping: mappingText.optional(),
  types: z.enum(['values', 'strings']).default('values'),
  subscribed: flag.optional(),
  resubscribe: flag.default(false),
  dryRun: flag.default(false),
}

const readFields = z.object(optional)

/** The fields as the API's description shows them: every field of a form is a text or a file. */
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
        'JSON: header -> field (`email`, `subscribed`, `unsubscribed` for a column that is filled for people who left, or a key of `data`); null leaves the column out',
      examples: ['{"E-Mail":"email","Tarif":"plan","Notes":null}'],
    }),
  dryRun: z.enum(['true', 'false']).optional().meta({
    description: 'true reads the whole file and counts what it would do, but changes nothing',
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
      description:
        'Whether new contacts are subscribed if their row does not say; true by default. false does not record that they left. With `resubscribe`, true subscribes existing contacts too',
    }),
    resubscribe: z.enum(['true', 'false']).optional().meta({
      description:
        'Whether rows subscribe people who left by themselves or complained; false by default: they stay unsubscribed, and `keptUnsubscribedCount` counts the rows that would have subscribed them. An existing contact is subscribed if its row says so in a column `subscribed`, or the form says `subscribed=true` and no row of the person unsubscribes',
    }),
  }),
}

export const suppressionsForm = {
  contentType: 'multipart/form-data',
  schema: z.object(described),
}

/**
 * A name near a guarded field is refused: without that field the import would change other
 * contacts, or change contacts where it should only count.
 */
const nameRules = {
  guarded: ['dryRun', 'mapping', 'subscribed', 'resubscribe'],
  aliases: { dry: 'dryRun', preview: 'dryRun', simulate: 'dryRun', columns: 'mapping' },
}

const noAnswer = { answer: undefined }
export const contactsNames = createNameCheck({ body: contactsForm.schema, ...noAnswer }, nameRules)
export const suppressionsNames = createNameCheck(
  { body: suppressionsForm.schema, ...noAnswer },
  nameRules,
)

/** Parses the JSON of a field; returns undefined if the text is not JSON. */
function parseColumns(text: string): object | null | undefined {
  try {
    return parseJsonText(text) as object | null
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

type Form = { kind: ImportKind; fields: readonly (keyof typeof optional)[]; names: NameCheck }

/**
 * Stores the file and queues its import; returns the id of the job. A refused file leaves nothing
 * behind.
 * @throws AppError VALIDATION_ERROR, PAYLOAD_TOO_LARGE, BAD_REQUEST, CONFLICT, DATABASE_ERROR
 */
export async function takeCsv(
  core: Pick<Core, 'store' | 'now' | 'jobNotifier'>,
  { project, caller, stream, reportUnknown }: ProjectCall<unknown, unknown>,
  { kind, fields, names }: Form,
): Promise<string> {
  if (stream === undefined) throw new TypeError('the route does not take a stream')
  const upload = createImportFile(core, { projectId: project.id, userId: userIdOf(caller), kind })
  try {
    const form = await readMultipart(stream, {
      fileField: 'file',
      fields,
      maxFileBytes: MAX_IMPORT_BYTES,
      refuse: ({ filename, contentType }) => {
        if (contentType === 'text/csv' || filename.toLowerCase().endsWith('.csv')) return undefined
        const isArchive = filename.toLowerCase().endsWith('.zip')
        return isArchive ? 'Must be a CSV file: unpack the archive' : 'Must be a CSV file'
      },
      write: upload.write,
    })
    const unknownFields = checkNames(form.unknownFields, names)
    reportUnknown(form.unknownFields.map((name) => ({ path: [], name, known: fields })))
    const { mapping = [], types, subscribed, ...others } = validate(readFields, form.fields)
    const subscribesKnown = subscribed === true && others.resubscribe
    const rules = { ...others, subscribed: subscribed ?? true, subscribesKnown }
    const filename = form.file.filename.slice(0, MAX_FILENAME_LENGTH)
    const areStrings = types === 'strings'
    return await upload.finish({ filename, mapping, areStrings, unknownFields, ...rules })
  } catch (error) {
    await upload.discard()
    throw withSplitting(error)
  }
}

/**
 * Returns the warnings of unknown names.
 * @throws AppError VALIDATION_ERROR for a name near a guarded field
 */
function checkNames(unknownFields: readonly string[], check: NameCheck): FieldWarning[] {
  const given = Object.fromEntries(unknownFields.map((name) => [name, '']))
  const { ignored, refused } = check.find(given, false)
  if (refused.length > 0) throw invalid(refused)
  return ignored
}

/** Adds to the error of a file that is too large how the file can be split. */
function withSplitting(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'PAYLOAD_TOO_LARGE') return error
  return new AppError('PAYLOAD_TOO_LARGE', error.message, {
    details: { maxBytes: MAX_IMPORT_BYTES },
    suggestion: `At most ${MAX_IMPORT_BYTES / MIB} MB: split it, each part with the header row.`,
    cause: error,
  })
}
