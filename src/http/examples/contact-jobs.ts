import type { Examples } from './operation-example.ts'

export const contactJobExamples: Examples = {
  'GET /contacts/export': {
    query: {
      subscribed: 'true',
    },
    status: 200,
    response:
      'id,email,subscribed,createdAt,updatedAt,data.city,data.name,data.plan\r\n0199a7c0-0000-7000-8000-000000000003,ann@example.org,true,2026-11-22T09:30:00.000Z,2026-11-22T09:30:00.000Z,Oslo,Ann,pro\r\n',
  },
  'POST /contacts/import': {
    request: {
      file: 'email,subscribed,plan\nbob@example.org,true,free\n',
      types: 'values',
    },
    status: 202,
    response: {
      message: 'The import is queued.',
      jobId: 'import-0199a7c0-0000-7000-8000-000000000001-1795339803000',
    },
  },
  'GET /contacts/import/:jobId': {
    params: {
      jobId: 'import-0199a7c0-0000-7000-8000-000000000001-1795339803000',
    },
    status: 200,
    response: {
      id: 'import-0199a7c0-0000-7000-8000-000000000001-1795339803000',
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
        columns: [{ field: 'data.plan', type: 'text', reason: null }],
        damage: { guessedRows: 0, replacedCharacters: 0, droppedCells: 0, cutFields: 0 },
        unknownFields: [],
        subscribedCount: 1,
        unsubscribedCount: 0,
        keptUnsubscribedCount: 0,
        subscriptionWords: [{ column: 'subscribed', word: 'true', rows: 1, readAs: 'subscribed' }],
      },
      data: {
        filename: 'people.csv',
        sizeBytes: 48,
        mapping: {},
        types: 'values',
        subscribed: true,
        resubscribe: false,
        dryRun: false,
      },
      failedReason: null,
    },
  },
  'POST /contacts/verify': {
    request: {
      emails: ['ann@example.org', 'bob@example'],
    },
    status: 202,
    response: {
      message: 'The verification is queued.',
      jobId: 'verify-0199a7c0-0000-7000-8000-000000000001-1795339804000',
    },
  },
  'GET /contacts/verify/:jobId': {
    params: {
      jobId: 'verify-0199a7c0-0000-7000-8000-000000000001-1795339804000',
    },
    status: 200,
    response: {
      id: 'verify-0199a7c0-0000-7000-8000-000000000001-1795339804000',
      state: 'completed',
      progress: 100,
      result: {
        total: 2,
        valid: 1,
        invalid: 1,
        unknown: 0,
        malformed: 1,
        domainMissing: 0,
        noMx: 0,
        disposable: 0,
        alias: 0,
        personal: 0,
        typo: 0,
        plusAddressed: 0,
        notFound: 0,
        results: [
          {
            email: 'ann@example.org',
            contactId: null,
            state: 'valid',
            cause: null,
            isDisposable: false,
            isAlias: false,
            isPersonalEmail: false,
            isTypo: false,
            isPlusAddressed: false,
            domainExists: true,
            hasMxRecords: true,
            reasons: ['The address is well formed and its domain accepts mail'],
          },
          {
            email: 'bob@example',
            contactId: null,
            state: 'invalid',
            cause: 'malformed',
            isDisposable: false,
            isAlias: false,
            isTypo: false,
            isPlusAddressed: false,
            isPersonalEmail: false,
            domainExists: false,
            hasMxRecords: false,
            reasons: ['This is not an email address'],
          },
        ],
        resultsOmitted: 0,
      },
      data: {
        projectId: '0199a7c0-0000-7000-8000-000000000001',
        mode: 'emails',
        emails: ['ann@example.org', 'bob@example'],
      },
      failedReason: null,
    },
  },
  'POST /contacts/bulk-subscribe': {
    request: {
      contactIds: ['0199a7c0-0000-7000-8000-000000000003'],
    },
    status: 202,
    response: {
      message: 'The bulk subscribe is queued.',
      jobId: 'bulk-subscribe-0199a7c0-0000-7000-8000-000000000001-1795339805000',
    },
  },
  'POST /contacts/bulk-unsubscribe': {
    request: {
      mode: 'query',
      filter: {
        search: 'bob@',
      },
    },
    status: 202,
    response: {
      message: 'The bulk unsubscribe is queued.',
      jobId: 'bulk-unsubscribe-0199a7c0-0000-7000-8000-000000000001-1795339806000',
    },
  },
  'GET /contacts/bulk/:jobId': {
    params: {
      jobId: 'bulk-unsubscribe-0199a7c0-0000-7000-8000-000000000001-1795339806000',
    },
    status: 200,
    response: {
      id: 'bulk-unsubscribe-0199a7c0-0000-7000-8000-000000000001-1795339806000',
      state: 'completed',
      progress: 100,
      result: {
        operation: 'unsubscribe',
        totalRequested: 1,
        successCount: 1,
        unchangedCount: 0,
        keptUnsubscribedCount: 0,
        failureCount: 0,
        errors: [],
      },
      data: {
        operation: 'unsubscribe',
        projectId: '0199a7c0-0000-7000-8000-000000000001',
        mode: 'query',
        filter: {
          search: 'bob@',
        },
        excludeIds: [],
      },
      failedReason: null,
    },
  },
  'POST /contacts/bulk-delete': {
    request: {
      contactIds: ['0199a7c0-0000-7000-8000-000000000003'],
    },
    status: 202,
    response: {
      message: 'The bulk delete is queued.',
      jobId: 'bulk-delete-0199a7c0-0000-7000-8000-000000000001-1795339808000',
    },
  },
}
