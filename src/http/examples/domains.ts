import type { Examples } from './operation-example.ts'

const records = [
  {
    purpose: 'dkim',
    name: 'pb5e1ec70000._domainkey.example.com',
    type: 'TXT',
    value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkq…',
    required: true,
    state: 'found',
    found: ['v=DKIM1; k=rsa; p=MIIBIjANBgkq…'],
  },
  {
    purpose: 'dkim-ed25519',
    name: 'pb5e1ec70001._domainkey.example.com',
    type: 'TXT',
    value: 'v=DKIM1; k=ed25519; p=…',
    required: false,
    state: 'found',
    found: ['v=DKIM1; k=ed25519; p=…'],
  },
  {
    purpose: 'return-path',
    name: 'bounce.example.com',
    type: 'MX',
    value: '10 mx.pillarbox.test',
    required: false,
    state: 'found',
    found: ['10 mx.pillarbox.test'],
  },
  {
    purpose: 'return-path-spf',
    name: 'bounce.example.com',
    type: 'TXT',
    value: 'v=spf1 mx ~all',
    required: false,
    state: 'found',
    found: ['v=spf1 mx ~all'],
  },
  {
    purpose: 'dmarc',
    name: '_dmarc.example.com',
    type: 'TXT',
    value: 'v=DMARC1; p=none',
    required: false,
    state: 'found',
    found: ['v=DMARC1; p=none'],
  },
  {
    purpose: 'replies',
    name: 'example.com',
    type: 'MX',
    value: '10 mx.pillarbox.test',
    required: false,
    state: 'found',
    found: ['10 mx.pillarbox.test'],
  },
]

export const domainExamples: Examples = {
  'POST /domains': {
    request: {
      domain: 'example.com',
    },
    status: 201,
    response: {
      id: '0199a7c0-0000-7000-8000-000000000002',
      domain: 'example.com',
      verified: false,
      trusted: false,
      status: 'Pending',
      dkimTokens: ['pb5e1ec70000', 'pb5e1ec70001'],
      records: records.map((record) => ({ ...record, state: 'unknown', found: [] })),
      projectId: '0199a7c0-0000-7000-8000-000000000001',
      createdAt: '2026-11-22T09:30:00.000Z',
      updatedAt: '2026-11-22T09:30:00.000Z',
    },
  },
  'GET /domains/:id/verify': {
    params: {
      id: '0199a7c0-0000-7000-8000-000000000002',
    },
    status: 200,
    response: {
      domain: 'example.com',
      tokens: ['pb5e1ec70000', 'pb5e1ec70001'],
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
    response: [
      {
        id: '0199a7c0-0000-7000-8000-000000000002',
        domain: 'example.com',
        verified: true,
        trusted: false,
        status: 'Success',
        dkimTokens: ['pb5e1ec70000', 'pb5e1ec70001'],
        records,
        projectId: '0199a7c0-0000-7000-8000-000000000001',
        createdAt: '2026-11-22T09:30:00.000Z',
        updatedAt: '2026-11-22T09:30:00.000Z',
      },
    ],
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
