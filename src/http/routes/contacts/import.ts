/** Imports from CSV files: contacts, and addresses to suppress. */
import { findImport, type ImportKind } from '../../../features/people/import-export/import-file.ts'
import { contactImport, suppressionImport } from '../../../records/import.ts'
import { queuedJob } from '../../../records/job.ts'
import {
  contactsForm,
  contactsNames,
  MAX_CSV_FORM_BYTES,
  suppressionsForm,
  suppressionsNames,
  takeCsv,
} from '../../body/csv-form.ts'
import { JOB_ANSWER_BYTES, jobResponse } from '../../exchange/large-json.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import type { OperationExample } from '../../route-docs.ts'

const contacts = { tag: 'Contacts' } as const
const suppressions = { tag: 'Suppressions' } as const

export const importContacts = ({ core }: RouteDeps) =>
  projectOperation({
    ...contacts,
    summary: 'Import contacts from a CSV file',
    description:
      'The header row needs a column `email`. All other columns are optional: in `subscribed`, true, 1, yes, subscribed, active, enabled, confirmed and opted in mean subscribed, and any other word means unsubscribed; columns in which exports of other services say who left, such as `status` and `UNSUB_TIME`, unsubscribe; `data.<key>` sets that key, and any other header sets the key of its name in lower case. Empty cells change nothing. People who left by themselves stay unsubscribed, unless `resubscribe` is true. `dryRun` counts what a file would do.',
    takesStream: contactsForm,
    maxBodyBytes: MAX_CSV_FORM_BYTES,
    responses: { 202: { description: 'Queued', schema: queuedJob } },
    refusals: [409],
    example: () => ({
      request: { file: 'email,subscribed,plan\nbob@example.org,true,free\n', types: 'values' },
      status: 202,
      response: {
        message: 'The import is queued.',
        jobId: 'import-0199a7c0-0000-7000-8000-000000000001-1795339803000',
      },
    }),
    handle: async (call) => {
      const fields = ['mapping', 'types', 'subscribed', 'resubscribe', 'dryRun'] as const
      const jobId = await takeCsv(core, call, { kind: 'import', fields, names: contactsNames })
      return json(202, { message: 'The import is queued.', jobId })
    },
  })

export const importSuppressions = ({ core }: RouteDeps) =>
  projectOperation({
    ...suppressions,
    summary: 'Suppress the addresses of a CSV file',
    description:
      'The header row needs a column `email`. The column `reason` is optional: HARD_BOUNCE, COMPLAINT, STRIKES or MANUAL, or the name that another service uses (bounce, spam, unsubscribed). Any other word counts as MANUAL and is stored in `source`. An address that is on the list keeps its first reason.',
    takesStream: suppressionsForm,
    maxBodyBytes: MAX_CSV_FORM_BYTES,
    responses: { 202: { description: 'Queued', schema: queuedJob } },
    refusals: [409],
    example: () => ({
      request: { file: 'email,reason\nleft@example.org,spam\n' },
      status: 202,
      response: {
        message: 'The import is queued.',
        jobId: 'suppressions-import-0199a7c0-0000-7000-8000-000000000001-1795339807000',
      },
    }),
    handle: async (call) => {
      const fields = ['mapping', 'dryRun'] as const
      const form = { kind: 'suppressions-import', fields, names: suppressionsNames } as const
      const jobId = await takeCsv(core, call, form)
      return json(202, { message: 'The import is queued.', jobId })
    },
  })

export const showContactImport = (deps: RouteDeps) =>
  statusOperation(deps, {
    ...contacts,
    kind: 'import',
    status: contactImport,
    example: () =>
      completedImport('import-0199a7c0-0000-7000-8000-000000000001-1795339803000', 48, {
        columns: [{ field: 'data.plan', type: 'text', reason: null }],
        subscribedCount: 1,
        unsubscribedCount: 0,
        keptUnsubscribedCount: 0,
        subscriptionWords: [{ column: 'subscribed', word: 'true', rows: 1, readAs: 'subscribed' }],
      }),
  })

export const showSuppressionImport = (deps: RouteDeps) =>
  statusOperation(deps, {
    ...suppressions,
    kind: 'suppressions-import',
    status: suppressionImport,
    example: () =>
      completedImport(
        'suppressions-import-0199a7c0-0000-7000-8000-000000000001-1795339807000',
        35,
        {
          addedCount: 1,
          existingCount: 0,
        },
      ),
  })

/** The example of an import of one row that has ended. `result`: the fields that the kind adds or changes. */
function completedImport(id: string, sizeBytes: number, result: object): OperationExample {
  return {
    params: { jobId: id },
    status: 200,
    response: {
      id,
      state: 'completed',
      progress: 100,
      result: {
        totalRows: 1,
        successCount: 1,
        createdCount: 1,
        updatedCount: 0,
        failureCount: 0,
        errors: [],
        warnings: [],
        columns: [],
        damage: { guessedRows: 0, replacedCharacters: 0, droppedCells: 0, cutFields: 0 },
        unknownFields: [],
        ...result,
      },
      data: {
        filename: 'people.csv',
        sizeBytes,
        mapping: {},
        types: 'values',
        subscribed: true,
        resubscribe: false,
        dryRun: false,
      },
      failedReason: null,
    },
  }
}

type StatusShape = {
  tag: string
  kind: ImportKind
  status: typeof contactImport | typeof suppressionImport
  example(): OperationExample
}

function statusOperation({ core }: RouteDeps, { tag, kind, status, example }: StatusShape) {
  return projectOperation({
    tag,
    summary: 'Show the progress of an import',
    answerBytes: JOB_ANSWER_BYTES,
    responses: { 200: { description: 'The job', schema: status } },
    refusals: [404],
    example,
    handle: (call) =>
      jobResponse(core, call, (id) => findImport(core, { projectId: call.project.id, id, kind })),
  })
}
