/**
 * The manifest of the area `people`: the loops, jobs, retentions and tables of contacts, segments,
 * imports, verification and wishes.
 */
import { indexedBy, jsonValue } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import {
  type Contact,
  contactFields,
  contactSearchBacklog,
  contacts,
} from '../../store/schema/contacts.ts'
import { importChunks } from '../../store/schema/jobs.ts'
import {
  causedChanges,
  type Segment,
  segmentMembers,
  segments,
} from '../../store/schema/segments.ts'
import { erasedRecipients, instanceKeys, unkeyedWishes, wishes } from '../../store/schema/wishes.ts'
import type { Base } from '../ground/base.ts'
import type { Area } from '../ground/manifest/area.ts'
import { isOwn, ownOf } from '../ground/manifest/part.ts'
import { erasedByDeletion, erasedByReset, exported, ownedBy } from '../ground/manifest/table.ts'
import { runBulk } from './contacts/bulk/bulk-job.ts'
import { SHOWN_BULK } from './contacts/bulk/result.ts'
import { runFieldDeletion, SHOWN_FIELD_DELETION } from './contacts/fields/delete.ts'
import { startSearchIndexer } from './contacts/list/search-index.ts'
import { toContactRecord } from './contacts/read/find-contact.ts'
import { importContacts, SHOWN_CONTACT_IMPORT } from './import-export/import-contacts.ts'
import { deleteExpiredImportFiles } from './import-export/import-file.ts'
import { deleteSeenChanges } from './segments/caused-changes.ts'
import { refreshSegments } from './segments/compute.ts'
import { deleteMemberships } from './segments/edit-members.ts'
import { SEGMENT_REFERENCES } from './segments/references.ts'
import { toSegmentRecord } from './segments/segments.ts'
import { LIST_JOB_KIND, runListVerification } from './verification/bulk/list-job.ts'
import { SHOWN_LIST_JOB } from './verification/bulk/result.ts'
import type { Verifier } from './verification/verifier.ts'
import { ERASED_RECIPIENTS, insertErasedContacts } from './wishes/erased-recipients.ts'

type Parts = Base & { verifier: Verifier }

const uploadsOfJobs = sql`(select ${jsonValue(sql`payload`, 'uploadId')} from jobs
  where ${isOwn} and kind in ('import', 'suppressions-import'))`

export const people: Area<Parts> = {
  name: 'people',
  loops: [startSearchIndexer],
  jobs: [
    { name: 'delete-expired-import-files', schedule: '47 * * * *', run: deleteExpiredImportFiles },
    {
      name: 'delete-seen-changes',
      schedule: '45 3 * * *',
      run: (parts, { signal }) => deleteSeenChanges(parts, signal),
    },
    {
      // In a fenced project, the job skips the segments that have membership events.
      name: 'refresh-segments',
      schedule: '*/5 * * * *',
      // A run may take minutes, and a stop of the program does not wait for it.
      atOnce: 1,
      run: (parts, { signal }) => refreshSegments(parts, signal),
    },
    // These jobs change contacts, and the events of the changes start executions.
    {
      name: 'import',
      atOnce: 2,
      fence: 'waits',
      run: importContacts,
      shown: SHOWN_CONTACT_IMPORT,
    },
    { name: 'bulk', atOnce: 3, fence: 'waits', run: runBulk, shown: SHOWN_BULK },
    // These jobs change rows of this server only, and make no events.
    {
      name: 'delete-field',
      atOnce: 2,
      fence: 'runs',
      run: runFieldDeletion,
      shown: SHOWN_FIELD_DELETION,
    },
    {
      name: 'clear-segment',
      atOnce: 2,
      fence: 'runs',
      run: deleteMemberships,
    },
    // The job queries DNS and makes no events: only a caller that asks for its status sees the
    // results.
    {
      name: LIST_JOB_KIND,
      atOnce: 3,
      fence: 'runs',
      run: runListVerification,
      shown: SHOWN_LIST_JOB,
    },
  ],
  retentions: [ERASED_RECIPIENTS],
  tables: [
    {
      table: instanceKeys,
      sealed: { key: instanceKeys.name, columns: { sealed: instanceKeys.sealed } },
    },
    {
      table: erasedRecipients,
      erasure: erasedByDeletion(erasedRecipients),
      export: 'digests of addresses, with a key of this server',
    },
    {
      table: unkeyedWishes,
      erasure: erasedByDeletion(unkeyedWishes, { key: () => sql`project_id, email` }),
      export: 'wishes of before an upgrade, which the next start makes digests of',
    },
    {
      table: wishes,
      erasure: erasedByDeletion(wishes, { key: () => sql`digest` }),
      export: 'digests of addresses, with a key of this server',
    },
    { table: contactSearchBacklog },
    {
      table: contactFields,
      erasure: erasedByReset(contactFields, { key: () => sql`project_id, key, kind` }),
      export: 'counted from the contacts',
    },
    {
      table: contacts,
      erasure: erasedByReset(contacts, {
        from: () => sql`contacts ${indexedBy('contacts_order')} where ${isOwn}`,
        keep: insertErasedContacts,
      }),
      export: exported(contacts, { view: (row: Contact) => toContactRecord(row) }),
    },
    {
      table: segments,
      erasure: erasedByReset(segments),
      export: exported(segments, { view: (row: Segment) => toSegmentRecord(row) }),
    },
    {
      table: segmentMembers,
      erasure: erasedByReset(segmentMembers, {
        key: () => sql`segment_id, contact_id`,
        from: () => sql`segment_members where segment_id in ${ownOf('segments')}`,
      }),
      export: exported(segmentMembers, { condition: ownedBy('segment_id', 'segments') }),
    },
    { table: causedChanges },
    {
      table: importChunks,
      erasure: erasedByReset(importChunks, {
        key: () => sql`upload_id, number`,
        from: () => sql`import_chunks where upload_id in ${uploadsOfJobs}`,
      }),
      export: 'files of imports that are not read yet',
    },
  ],
  references: SEGMENT_REFERENCES,
}
