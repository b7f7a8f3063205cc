/** Examples of the operations on the server and its uploads. */
import { publicConfigExample } from '../../records/server.ts'
import { uploadExample as logo } from '../../records/upload.ts'
import type { Examples } from './operation-example.ts'

const name = logo.key

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
  'GET /requests': {
    query: { status: '4xx', path: '/v1/', caller: 'secret' },
    status: 200,
    response: {
      data: [
        {
          id: '0199a7c0-0000-7000-8000-000000001201',
          method: 'POST',
          path: '/v1/send',
          statusCode: 422,
          duration: 3,
          projectId: '0199a7c0-0000-7000-8000-000000000001',
          userId: null,
          authType: 'apiKey',
          caller: 'secret',
          ip: '192.0.2.7',
          userAgent: 'shop/1.4',
          errorCode: 'VALIDATION_ERROR',
          errorMessage: 'from: required',
          requestSize: 142,
          responseSize: 512,
          warning: null,
          createdAt: '2026-11-22T09:30:00.000Z',
        },
      ],
      cursor: null,
      hasMore: false,
      total: 1,
    },
  },
  'GET /config': {
    status: 200,
    response: publicConfigExample,
  },
  'POST /uploads/image': {
    request: { image: '(the bytes of logo.png)' },
    status: 200,
    response: logo,
  },
  'GET /uploads': {
    query: { limit: '1' },
    status: 200,
    response: {
      data: [{ ...logo, width: 8, height: 6, createdAt: '2026-11-22T09:30:00.000Z' }],
      cursor: null,
      hasMore: false,
      total: 1,
    },
  },
  'GET /uploads/:name': { params: { name }, status: 200 },
  'DELETE /uploads/:name': { params: { name }, status: 204 },
}
