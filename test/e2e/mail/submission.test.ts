import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import { eventually, startProgram } from '../program.ts'
import { installBesideSink, makeProject } from '../server.ts'

function clientOf(port: number, pass: string) {
  return createTransport({ host: '127.0.0.1', port, auth: { user: 'pillarbox', pass } })
}

test('a submitted message arrives with its files, names and header fields', async (t) => {
  const program = await startProgram({ PILLARBOX_SUBMISSION__LISTEN: '["127.0.0.1:0"]' })
  t.after(program.close)
  const sink = await program.receive('dest.test')
  const [file, image] = [randomBytes(70_000), randomBytes(10_000)]
  const [port = 0] = program.submissionPorts()
  const { response } = await clientOf(port, program.project.secret).sendMail({
    from: 'Jürgen <shop@example.test>',
    to: 'Ådå <ada@dest.test>',
    bcc: 'secret@dest.test',
    subject: 'Größer ✓',
    html: '<p>Hallo {{ name }} <img src="cid:logo@shop"></p>',
    messageId: '<thread.1@example.test>',
    references: '<thread.0@example.test>',
    headers: { 'X-Tag': 'Größe', 'X-Pillarbox-Template': 'yes' },
    attachments: [
      { filename: 'Übersicht.bin', content: file },
      { filename: 'logo.png', content: image, cid: 'logo@shop' },
    ],
  })
  assert.match(response, /^250 2\.0\.0 Ok: queued as [0-9a-f-]{36} [0-9a-f-]{36}$/)
  const ids = response.split(' ').slice(-2)
  for (const id of ids) await program.untilState(id, 'delivered')
  const arrived = sink.messages.find(({ to }) => to.includes('ada@dest.test'))
  assert.doesNotMatch(String(arrived?.bytes), /secret@dest\.test|^bcc:|x-pillarbox-template/im)
  const mail = await simpleParser(arrived?.bytes ?? '', { keepCidLinks: true })
  assert.deepEqual(mail.from?.value, [{ name: 'Jürgen', address: 'shop@example.test' }])
  assert.deepEqual([mail.to].flat()[0]?.value, [{ name: 'Ådå', address: 'ada@dest.test' }])
  assert.equal(mail.subject, 'Größer ✓')
  assert.match(String(mail.html), /<p>Hallo Ådå <img src="cid:logo@shop">/)
  assert.equal(mail.messageId, '<thread.1@example.test>')
  assert.equal(mail.references, '<thread.0@example.test>')
  assert.match(String(arrived?.bytes), /^X-Tag: =\?UTF-8\?/m)
  const files = new Map(mail.attachments.map((one) => [one.filename, one]))
  assert.deepEqual(files.get('Übersicht.bin')?.content, file)
  assert.deepEqual(files.get('logo.png')?.content, image)
  assert.equal(files.get('logo.png')?.cid, 'logo@shop')
})

test('acknowledged mail is sent even if the server is killed immediately', async (t) => {
  const options = { retrySchedule: '1s' }
  const { sink, installation } = await installBesideSink(t, {
    ...options,
    configuration: '[submission]\nlisten = ["127.0.0.1:0"]\n',
  })
  const { secret } = await makeProject(installation)
  const first = await installation.serve()
  const [place = ''] = first.submission
  const client = clientOf(Number(place.split(':')[1]), secret)
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      client.sendMail({
        from: 'shop@example.test',
        to: `u${n}@dest.test`,
        subject: 'x',
        text: 'x',
      }),
    ),
  )
  await first.kill('SIGKILL')
  assert.ok(answers.every(({ response }) => response.startsWith('250 2.0.0 Ok: queued as ')))
  await installation.serve()
  await eventually(() => {
    const reached = new Set(sink.messages.flatMap(({ to }) => to))
    return reached.size === 10 ? true : undefined
  })
})
