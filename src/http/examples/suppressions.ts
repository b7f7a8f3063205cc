import { suppressionExample as away } from '../../records/suppression.ts'
import type { Examples } from './operation-example.ts'

export const suppressionExamples: Examples = {
  'POST /suppressions': {
    request: {
      emails: ['gone@example.org', 'away@example.org'],
      reason: 'MANUAL',
    },
    status: 200,
    response: {
      added: 2,
      existing: 0,
    },
  },
  'GET /suppressions': {
    query: {
      limit: '20',
      reason: 'MANUAL',
    },
    status: 200,
    response: {
      data: [
        away,
        { ...away, id: '0199a7c0-0000-7000-8000-000000000020', email: 'gone@example.org' },
      ],
      cursor: null,
      hasMore: false,
      total: 2,
    },
  },
  'DELETE /suppressions/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000019',
    },
    status: 204,
  },
  'DELETE /suppressions': {
    request: {
      emails: ['gone@example.org', 'away@example.org'],
    },
    status: 200,
    response: {
      removed: 1,
    },
  },
  'POST /suppressions/import': {
    request: {
      file: 'email,reason\nleft@example.org,spam\n',
    },
    status: 202,
    response: {
      message: 'The import is queued.',
      jobId: 'suppressions-import-0199a7c0-0000-7000-8000-000000000001-1795339807000',
    },
  },
  'GET /suppressions/import/:jobId': {
    params: {
      jobId: 'suppressions-import-0199a7c0-0000-7000-8000-000000000001-1795339807000',
    },
    status: 200,
    response: {
      id: 'suppressions-import-0199a7c0-0000-7000-8000-000000000001-1795339807000',
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
        addedCount: 1,
        existingCount: 0,
      },
      data: {
        filename: 'people.csv',
        sizeBytes: 35,
        mapping: {},
        types: 'values',
        subscribed: true,
        resubscribe: false,
        dryRun: false,
      },
      failedReason: null,
    },
  },
}
