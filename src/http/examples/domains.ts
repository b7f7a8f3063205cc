import { domainExample as domain } from '../../records/domain.ts'
import type { Examples } from './operation-example.ts'

const { records } = domain

export const domainExamples: Examples = {
  'POST /domains': {
    request: {
      domain: 'example.com',
    },
    status: 201,
    response: {
      ...domain,
      verified: false,
      status: 'Pending',
      records: records.map((record) => ({ ...record, state: 'unknown', found: [] })),
    },
  },
  'GET /domains/:id/verify': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000002',
    },
    status: 200,
    response: {
      domain: domain.domain,
      tokens: domain.dkimTokens,
      status: 'Success',
      verified: true,
      records,
    },
  },
  'GET /domains/project/:projectId': {
    params: {
      projectId: '0199a7c0-0000-7000-8000-000000000001',
    },
    status: 200,
    response: [domain],
  },
  'DELETE /domains/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000002',
    },
    status: 200,
    response: {
      success: true,
    },
  },
}
