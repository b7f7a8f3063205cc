import type { Examples } from './operation-example.ts'

export const campaignComposingExamples: Examples = {
  'POST /render': {
    request: {
      subject: 'Your order {{ order }}',
      body: '<table><tr><td>Thank you, {{ name }}.</td></tr></table>',
      type: 'TRANSACTIONAL',
      data: { name: 'Ann', order: 'A-7' },
    },
    status: 200,
    response: {
      subject: 'Your order A-7',
      html: '<table><tr><td>Thank you, Ann.</td></tr></table>',
      text: 'Thank you, Ann.',
      sizeBytes: 48,
      warnings: [],
      unknownFields: [],
    },
  },
  'POST /campaigns/:id/check': {
    params: { id: '0199a7c0-0000-7000-8000-000000000030' },
    status: 200,
    response: {
      findings: [
        {
          code: 'loopback_link',
          severity: 'warning',
          message: '1 link to this machine, which no recipient can open: http://localhost:…',
          fix: 'Set `base_url` to the public address of the server, and use public addresses in the text.',
        },
        {
          code: 'everybody',
          severity: 'info',
          message:
            'The audience is everybody: the campaign goes to the only contact that can get it.',
          fix: 'If it is meant for some of them, set audienceType to SEGMENT or FILTERED.',
        },
      ],
    },
  },
  'POST /campaigns/:id/test': {
    params: { id: '0199a7c0-0000-7000-8000-000000000033' },
    request: {
      emails: ['editor@example.org'],
      contactId: '0199a7c0-0000-7000-8000-000000000003',
    },
    status: 200,
    response: {
      success: true,
      data: {
        emails: [
          {
            contact: { id: '0199a7c0-0000-7000-8000-000000000034', email: 'editor@example.org' },
            email: '0199a7c0-0000-7000-8000-000000000035',
          },
        ],
        timestamp: '2026-11-22T09:30:00.000Z',
      },
      message: 'The test was sent to editor@example.org.',
    },
  },
}
