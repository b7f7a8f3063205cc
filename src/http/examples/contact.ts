/** The contact of the examples, and a condition that matches it. */

export const newContact = {
  id: '0199a7c0-0000-7000-8000-000000000003',
  email: 'ann@example.org',
  subscribed: true,
  data: {
    name: 'Ann',
    plan: 'pro',
  },
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}

export const contact = { ...newContact, data: { ...newContact.data, city: 'Oslo' } }

export const proPlan = {
  logic: 'AND',
  groups: [
    {
      filters: [
        {
          field: 'data.plan',
          operator: 'equals',
          value: 'pro',
        },
      ],
    },
  ],
}
