import { conditionExample as proPlan } from '../../records/condition.ts'
import { contactExample as contact } from '../../records/contact.ts'
import { segmentExample as segment } from '../../records/segment.ts'
import type { Examples } from './operation-example.ts'

export const segmentExamples: Examples = {
  'POST /segments': {
    request: {
      name: 'Pro customers',
      type: 'DYNAMIC',
      condition: proPlan,
      trackMembership: true,
    },
    status: 201,
    response: segment,
  },
  'GET /segments': {
    status: 200,
    response: [segment],
  },
  'GET /segments/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000017',
    },
    status: 200,
    response: segment,
  },
  'PATCH /segments/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000017',
    },
    request: {
      description: 'Who pays',
    },
    status: 200,
    response: { ...segment, description: 'Who pays' },
  },
  'GET /segments/:id/contacts': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000017',
    },
    query: {
      page: '1',
      pageSize: '20',
    },
    status: 200,
    response: {
      data: [contact],
      total: 1,
      page: 1,
      pageSize: 20,
      totalPages: 1,
    },
  },
  'POST /segments/:id/check': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000017',
    },
    status: 200,
    response: { findings: [] },
  },
  'POST /segments/:id/refresh': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000017',
    },
    status: 200,
    response: {
      memberCount: 1,
    },
  },
  'POST /segments/:id/compute': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000017',
    },
    status: 200,
    response: {
      added: 1,
      removed: 0,
      total: 1,
    },
  },
  'POST /segments/:id/members': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000018',
    },
    request: {
      emails: ['ann@example.org', 'cy@example.org'],
      createMissing: true,
      subscribed: false,
    },
    status: 200,
    response: {
      added: 2,
      created: 1,
      notFound: [],
    },
  },
  'DELETE /segments/:id/members': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000018',
    },
    request: {
      emails: ['cy@example.org'],
    },
    status: 200,
    response: {
      removed: 1,
    },
  },
  'DELETE /segments/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000017',
    },
    status: 204,
  },
}
