import type { Examples } from './operation-example.ts'

export const serviceExamples: Examples = {
  'POST /webhooks/sns': {
    request: {
      Type: 'Notification',
      MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
      TopicArn: 'arn:aws:sns:eu-west-1:123456789012:mail',
      Message: '{}',
      Timestamp: '2026-11-22T09:30:00.000Z',
      SignatureVersion: '1',
      Signature:
        'EXAMPLEpH+DcEwjAPg8O9mY8dReBSwksfg2S7WKQcikcNKWLQjwu6A4VbeS0QHVCkhRS7fUQvi2egU3N858fiTDN6bkkOxYDVrY0Ad8L10Hs3zH81mtnPk5uvvolIC1CXGu43obcgFxeL3khZl8IKvO61GWB6jI9b5+gLPoBc1Q=',
      SigningCertURL:
        'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    },
    status: 200,
    response: { success: true },
  },
  'GET /health/checks': {
    status: 200,
    response: {
      status: 'ok',
      startedAt: '2026-11-22T09:23:00.000Z',
      finishedAt: '2026-11-22T09:23:01.412Z',
      checks: [
        {
          id: 'wal',
          status: 'ok',
          evidence: 'the write-ahead log has 0 MB',
          fix: null,
        },
      ],
    },
  },
  'GET /health': {
    status: 200,
    response: {
      status: 'ok',
      time: '2026-11-22T09:30:00.000Z',
    },
  },
}
