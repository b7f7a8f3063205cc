import { templateExample as template } from '../../records/template.ts'
import type { Examples } from './operation-example.ts'

export const templateExamples: Examples = {
  'POST /templates': {
    request: {
      name: 'Order confirmation',
      subject: 'Your order {{ order }}',
      body: '<p>Thank you, {{ name }}.</p>',
      from: 'hello@example.test',
      type: 'TRANSACTIONAL',
    },
    status: 201,
    response: template,
  },
  'GET /templates': {
    query: {
      limit: '20',
      type: 'TRANSACTIONAL',
    },
    status: 200,
    response: {
      templates: [template],
      data: [template],
      total: 1,
      page: 1,
      pageSize: 20,
      totalPages: 1,
      cursor: null,
      hasMore: false,
    },
  },
  'GET /templates/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000010',
    },
    status: 200,
    response: template,
  },
  'PATCH /templates/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000010',
    },
    request: {
      fromName: 'Shop',
    },
    status: 200,
    response: { ...template, fromName: 'Shop' },
  },
  'GET /templates/:id/usage': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000010',
    },
    status: 200,
    response: {
      workflowSteps: 0,
      emailsSent: 0,
      campaigns: [],
      workflows: [],
      steps: [],
    },
  },
  'POST /templates/:id/duplicate': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000010',
    },
    status: 201,
    response: {
      ...template,
      id: '0199a7c0-0000-7000-8000-000000000012',
      name: 'Order confirmation (Copy)',
      fromName: 'Shop',
    },
  },
  'POST /templates/bulk-update': {
    request: {
      ids: ['0199a7c0-0000-7000-8000-000000000012'],
      delete: true,
    },
    status: 200,
    response: {
      deleted: 1,
    },
  },
  'DELETE /templates/:id': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000010',
    },
    status: 204,
  },
}
