import type { Examples } from './operation-example.ts'

export const contactFieldExamples: Examples = {
  'GET /contacts/fields': {
    status: 200,
    response: {
      fields: [
        {
          field: 'createdAt',
          type: 'date',
          coverage: 100,
        },
        {
          field: 'data.city',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'data.name',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'data.plan',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'email',
          type: 'string',
          coverage: 100,
        },
        {
          field: 'subscribed',
          type: 'boolean',
          coverage: 100,
        },
        {
          field: 'updatedAt',
          type: 'date',
          coverage: 100,
        },
      ],
      count: 7,
    },
  },
  'GET /contacts/fields/:field/values': {
    params: {
      field: 'data.plan',
    },
    status: 200,
    response: {
      field: 'data.plan',
      values: ['pro'],
      count: 1,
      limit: 100,
    },
  },
  'GET /contacts/fields/:field/usage': {
    params: {
      field: 'data.plan',
    },
    status: 200,
    response: {
      usedInSegments: [{ id: '0199a7c0-0000-7000-8000-000000000017', name: 'Pro customers' }],
      usedInCampaigns: [],
      usedInWorkflows: [],
      contactCount: 1,
      canDelete: false,
    },
  },
  'DELETE /contacts/fields/:field': {
    params: {
      field: 'data.city',
    },
    status: 200,
    response: {
      deletedFrom: 1,
    },
  },
}
