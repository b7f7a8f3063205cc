/** Imports of CSV files in the API: their progress, and what became of the rows. */
import { z } from 'zod'
import { fieldWarnings } from './fields.ts'
import { jobStatus } from './job.ts'

const rowError = z.object({
  row: z.int().meta({ description: 'Rows are counted from the header, which is row 1' }),
  line: z.int().meta({ description: 'The line in the file' }),
  email: z.string(),
  error: z.string(),
})

const result = z.object({
  totalRows: z.int().meta({ description: 'Rows below the header; empty rows are not counted' }),
  successCount: z.int(),
  createdCount: z.int(),
  updatedCount: z
    .int()
    .meta({ description: 'Contacts that existed, including those that did not change' }),
  failureCount: z.int(),
  errors: z.array(rowError).meta({ description: 'The first 1,000' }),
  warnings: z
    .array(z.string())
    .meta({ description: 'About the file as a whole, as text for people, with line numbers' }),
  columns: z
    .array(
      z.object({
        field: z.string(),
        type: z.enum(['text', 'number', 'boolean', 'mixed', 'json']),
        reason: z.string().nullable().meta({
          description: 'Why a column with numbers or booleans is read as text',
        }),
        keys: z.array(z.string()).optional().meta({
          description:
            'Of `json` only: the first 50 keys of its objects, which become keys of the data; each is shown up to 60 characters',
        }),
      }),
    )
    .meta({
      description:
        'How the columns of data are read; `mixed` in an export of this service where each cell has its own type; `json`: objects whose keys became keys of the data',
    }),
  damage: z
    .object({
      guessedRows: z.int().meta({
        description: 'Rows that are no UTF-8 and were read as Windows-1252',
      }),
      replacedCharacters: z.int().meta({
        description: 'Characters that could not be read and became U+FFFD',
      }),
      droppedCells: z.int().meta({ description: 'Cells with a value in a column without a field' }),
      cutFields: z.int().meta({ description: 'Values that were too long and were shortened' }),
    })
    .meta({ description: 'What was not taken as it is' }),
  unknownFields: fieldWarnings.meta({
    description:
      'At most 20 names that an import does not know: fields of the form, headers in `mapping` that the file does not have, and columns that contacts cannot have',
  }),
})

const contactResult = result.extend({
  subscribedCount: z.int().meta({
    description:
      'Contacts that became subscribed: new ones, and those that were unsubscribed before. A contact that is unsubscribed after one row and subscribed by a later row counts in both',
  }),
  unsubscribedCount: z.int().meta({
    description:
      'Contacts that became unsubscribed: new ones, and those that were subscribed before. Also those of rows in `errors` whose data alone was refused',
  }),
  keptUnsubscribedCount: z.int().meta({
    description:
      'Rows that would have subscribed a person who left, or whom another row unsubscribes, and rows of contacts who are unsubscribed here and get mail from another service, as its column says: these rows subscribe nobody. They count above too',
  }),
  subscriptionWords: z
    .array(
      z.object({
        column: z.string(),
        word: z.string().nullable().meta({
          description: 'In lower case; null for all further texts of the column together',
        }),
        rows: z.int(),
        readAs: z.enum(['subscribed', 'unsubscribed', 'unchanged']),
      }),
    )
    .meta({
      description:
        'The words of columns that say who gets mail, and how each was read: up to 20 words of each of up to 10 columns',
    }),
})

const suppressionResult = result.extend({
  addedCount: z.int(),
  existingCount: z.int().meta({ description: 'Addresses that were already on the list' }),
})

const given = z.object({
  filename: z.string(),
  sizeBytes: z.int(),
  mapping: z.record(z.string(), z.string().nullable()),
  types: z.enum(['values', 'strings']),
  subscribed: z.boolean(),
  resubscribe: z.boolean(),
  dryRun: z.boolean().meta({ description: 'The counts say what would happen; nothing changed' }),
})

const upload = given.meta({ description: 'The upload, without the file' })

export const contactImport = jobStatus(contactResult.nullable(), upload)
export const suppressionImport = jobStatus(suppressionResult.nullable(), upload)

export type ImportData = z.output<typeof given>
export type ImportResult = z.output<typeof result>
export type ContactImportResult = z.output<typeof contactResult>
export type SuppressionImportResult = z.output<typeof suppressionResult>

export type RowError = ImportResult['errors'][number]
export type ColumnReading = ImportResult['columns'][number]
export type FileDamage = ImportResult['damage']
export type StateWord = ContactImportResult['subscriptionWords'][number]
