/** Imports from CSV files: contacts, and addresses to suppress. */
import type { ImportKind } from '../../../features/people/import-export/import-file.ts'
import { findImport } from '../../../features/people/import-export/import-file.ts'
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
import { JOB_ANSWER_BYTES, jobResponse } from '../../exchange/job-response.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'

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
    handle: async (call) => {
      const fields = ['mapping', 'dryRun'] as const
      const form = { kind: 'suppressions-import', fields, names: suppressionsNames } as const
      const jobId = await takeCsv(core, call, form)
      return json(202, { message: 'The import is queued.', jobId })
    },
  })

export const showContactImport = (deps: RouteDeps) =>
  statusOperation(deps, { ...contacts, kind: 'import', status: contactImport })

export const showSuppressionImport = (deps: RouteDeps) =>
  statusOperation(deps, { ...suppressions, kind: 'suppressions-import', status: suppressionImport })

type StatusShape = {
  tag: string
  kind: ImportKind
  status: typeof contactImport | typeof suppressionImport
}

function statusOperation({ core }: RouteDeps, { tag, kind, status }: StatusShape) {
  return projectOperation({
    tag,
    summary: 'Show the progress of an import',
    answerBytes: JOB_ANSWER_BYTES,
    responses: { 200: { description: 'The job', schema: status } },
    refusals: [404],
    handle: (call) =>
      jobResponse(core, call, (id) => findImport(core, { projectId: call.project.id, id, kind })),
  })
}
