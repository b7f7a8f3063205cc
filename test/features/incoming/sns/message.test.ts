import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  parseCertificateUrl,
  parseSnsMessage,
  parseSubscribeUrl,
  signedText,
} from '../../../../src/features/incoming/sns/message.ts'
import { parseNotification } from '../../../../src/features/incoming/sns/notification.ts'
import { SUBSCRIBE_URL, TOPIC } from '../../../fakes/sns.ts'

const notification = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
  Message: 'Hello\nworld!',
  Timestamp: '2012-05-02T00:54:06.655Z',
  SignatureVersion: '1',
  Signature: 'EXAMPLE',
  SigningCertURL: 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb72.pem',
}

const textOf = (value: unknown) => {
  const message = parseSnsMessage(value)
  assert.ok(message)
  return signedText(message).split('\n')
}

test('the signed text of a notification has its names in order, and a subject if there is one', () => {
  const { MessageId, TopicArn } = notification
  const rest = ['Timestamp', '2012-05-02T00:54:06.655Z', 'TopicArn', TopicArn]
  const start = ['Message', 'Hello', 'world!', 'MessageId', MessageId]
  const end = ['Type', 'Notification', '']
  assert.deepEqual(textOf(notification), [...start, ...rest, ...end])
  const named = textOf({ ...notification, Subject: 'My First Message' })
  assert.deepEqual(named, [...start, 'Subject', 'My First Message', ...rest, ...end])
})

for (const Type of ['SubscriptionConfirmation', 'UnsubscribeConfirmation']) {
  test(`the signed text of a ${Type} has its address and token, and no subject`, () => {
    const { MessageId, TopicArn } = notification
    const confirmation = { ...notification, Type, Token: '2336412f', SubscribeURL: SUBSCRIBE_URL }
    assert.deepEqual(textOf({ ...confirmation, Subject: 'never signed' }), [
      'Message',
      'Hello',
      'world!',
      'MessageId',
      MessageId,
      'SubscribeURL',
      SUBSCRIBE_URL,
      'Timestamp',
      '2012-05-02T00:54:06.655Z',
      'Token',
      '2336412f',
      'TopicArn',
      TopicArn,
      'Type',
      Type,
      '',
    ])
  })
}

const broken: [string, unknown][] = [
  ['nothing', undefined],
  ['a text', 'Notification'],
  ['a list', [notification]],
  ['another type', { ...notification, Type: 'Greeting' }],
  ['signature version 3', { ...notification, SignatureVersion: '3' }],
  ['a signature version that is a number', { ...notification, SignatureVersion: 1 }],
  ['a message that is an object', { ...notification, Message: {} }],
  ['no id', { ...notification, MessageId: '' }],
  ['no time', { ...notification, Timestamp: 'yesterday' }],
  ['no certificate', { ...notification, SigningCertURL: undefined }],
  ['a confirmation without an address', { ...notification, Type: 'SubscriptionConfirmation' }],
]

for (const [what, value] of broken) {
  test(`${what} is not a message of SNS`, () => {
    assert.equal(parseSnsMessage(value), undefined)
  })
}

const certificates = [
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem',
  'https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-0123.pem',
  'https://sns.ap-southeast-2.amazonaws.com/a.pem',
  'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-0123.pem',
]

for (const url of certificates) {
  test(`a certificate may be at ${url}`, () => {
    assert.equal(parseCertificateUrl(url)?.href, url)
  })
}

const foreign = [
  'http://sns.eu-west-1.amazonaws.com/a.pem',
  'https://sns.eu-west-1.amazonaws.com.evil.test/a.pem',
  'https://evilsns.eu-west-1.amazonaws.com/a.pem',
  'https://x.sns.eu-west-1.amazonaws.com/a.pem',
  'https://sns.eu-west-1.amazonaws.com@evil.test/a.pem',
  'https://evil.test/@sns.eu-west-1.amazonaws.com/a.pem',
  'https://user:word@sns.eu-west-1.amazonaws.com/a.pem',
  'https://sns.eu-west-1.amazonaws.com:443/a.pem',
  'https://sns.eu-west-1.amazonaws.com:8443/a.pem',
  'https://sns.eu-west-1.amazonaws.com./a.pem',
  'https://sns.eu-west-1.amazonaws.com\\@evil.test/a.pem',
  'https://sns.eu-west-1.amazonaws.com#@evil.test/a.pem',
  'https://sns.eu-west-1.amazonaws.com?/a.pem',
  'https://sns.eu-west-1.amazonaws.comm/a.pem',
  'https://sns.eu-west-1.amazonaws.com.cn.evil.test/a.pem',
  'https://sns.eu-west-1.amazonaws.com.uk/a.pem',
  'https://sns.eu.west.1.amazonaws.com/a.pem',
  'https://sns.amazonaws.com/a.pem',
  'https://sns-eu-west-1.s3.amazonaws.com/a.pem',
  'https://s3.eu-west-1.amazonaws.com/a.pem',
  'https://sns.s3-bucket-1.amazonaws.com.evil.test/a.pem',
  'https://sns.eu-west-1.amazonaws.com\u3002/a.pem',
  'https://sns.eu-west-1\u3002amazonaws.com/a.pem',
  'https://sns.eu-west-1.am\tazonaws.com/a.pem',
  'https://sns.eu-west-1.amazonaws.com/a.pem\n',
  ' https://sns.eu-west-1.amazonaws.com/a.pem',
  'https:sns.eu-west-1.amazonaws.com/a.pem',
  'https:///sns.eu-west-1.amazonaws.com/a.pem',
  'https://127.0.0.1/a.pem',
  'https://[::1]/a.pem',
  'https://2130706433/a.pem',
  'https://169.254.169.254/a.pem',
  'https://localhost/a.pem',
  'HTTPS://SNS.EU-WEST-1.AMAZONAWS.COM/a.pem',
  'file:///etc/a.pem',
  'data:application/x-pem,a.pem',
  '',
]

for (const url of foreign) {
  test(`no certificate is fetched from ${JSON.stringify(url)}`, () => {
    assert.equal(parseCertificateUrl(url), undefined)
    assert.equal(parseSubscribeUrl(url.replace('a.pem', '?Action=x'), TOPIC), undefined)
  })
}

const otherPaths = [
  '',
  'a.txt',
  'a.pem.txt',
  'a.pem?x=1',
  '?x=a.pem',
  'a.pem#x',
  'folder/a.pem',
  '../a.pem',
  '..%2fa.pem',
  '.pem',
]

for (const path of otherPaths) {
  test(`/${path} at a host of SNS is not accepted as a certificate`, () => {
    assert.equal(parseCertificateUrl(`https://sns.eu-west-1.amazonaws.com/${path}`), undefined)
  })
}

test('a subscription is confirmed only at an address that confirms', () => {
  assert.equal(parseSubscribeUrl(SUBSCRIBE_URL, TOPIC)?.href, SUBSCRIBE_URL)
  const escaped = SUBSCRIBE_URL.replaceAll('arn:aws:sns', 'arn%3Aaws%3Asns')
  assert.ok(parseSubscribeUrl(escaped, TOPIC))
})

const otherActions = [
  SUBSCRIBE_URL.replace('ConfirmSubscription', 'Unsubscribe'),
  SUBSCRIBE_URL.replace('Action=', 'action='),
  `${SUBSCRIBE_URL}&Action=DeleteTopic`,
  `${SUBSCRIBE_URL}&TopicArn=arn:aws:sns:eu-west-1:999999999999:other`,
  SUBSCRIBE_URL.replace(':mail', ':other'),
  SUBSCRIBE_URL.replace('/?', '/path?'),
  `${SUBSCRIBE_URL}#top`,
  'https://sns.eu-west-1.amazonaws.com/',
]

for (const url of otherActions) {
  test(`${url} is not requested`, () => {
    assert.equal(parseSubscribeUrl(url, TOPIC), undefined)
  })
}

test('received mail is read as base64 or as text, by the rule or by the text itself', () => {
  const raw = 'From: a@b.test\r\n\r\nHi'
  const read = (content: string, action?: Record<string, string>) => {
    const event = { notificationType: 'Received', content, receipt: { action } }
    const notification = parseNotification(JSON.stringify(event))
    return notification?.kind === 'received' ? notification.content.toString() : undefined
  }
  const encoded = Buffer.from(raw).toString('base64')
  assert.equal(read(encoded, { encoding: 'BASE64' }), raw)
  assert.equal(read(raw, { encoding: 'UTF8' }), raw)
  assert.equal(read(encoded), raw)
  assert.equal(read(raw), raw)
})

test('the sender of received mail is the bare address, or empty', () => {
  const senderOf = (source?: string) => {
    const read = parseNotification(
      JSON.stringify({ notificationType: 'Received', mail: { source } }),
    )
    return read?.kind === 'received' ? read.reversePath : undefined
  }
  assert.equal(senderOf('ada@dest.test'), 'ada@dest.test')
  assert.equal(senderOf('"Ada, of <all>" <ada@dest.test>'), 'ada@dest.test')
  assert.equal(senderOf('<>'), '')
  assert.equal(senderOf(), '')
})

test('received mail without its content is its header section, one field per line', () => {
  const headers = [
    { name: 'From', value: 'Ada <ada@dest.test>' },
    { name: 'Subject', value: 'Hi\r\nBcc: victim@dest.test' },
    { name: 'Bad name', value: 'x' },
    { name: 'X:Y', value: 'x' },
  ]
  const notification = parseNotification(
    JSON.stringify({ notificationType: 'Received', mail: { headers, source: 'ada@dest.test' } }),
  )
  assert.ok(notification?.kind === 'received')
  assert.equal(
    notification.content.toString(),
    'From: Ada <ada@dest.test>\r\nSubject: Hi Bcc: victim@dest.test\r\n\r\n',
  )
})

test('any JSON is a notification or none, and never an error', () => {
  const kinds = ['Delivery', 'Open', 'Click', 'Bounce', 'Complaint', 'Received', 'Other']
  const parts = ['mail', 'open', 'click', 'bounce', 'complaint', 'receipt', 'content']
  const event = fc.record({
    eventType: fc.constantFrom(...kinds),
    ...Object.fromEntries(parts.map((part) => [part, fc.jsonValue({ maxDepth: 3 })])),
  })
  fc.assert(
    fc.property(event, (value) => {
      const read = parseNotification(JSON.stringify(value))
      assert.equal(read === undefined, value.eventType === 'Other')
    }),
    { numRuns: 300 },
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.equal(parseNotification(text), undefined)
    }),
    { numRuns: 200 },
  )
})
