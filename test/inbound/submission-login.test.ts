import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { SMTPServerSession } from 'smtp-server'
import { deleteProject, resetProject } from '../../src/features/operation/erasure/end-project.ts'
import { regenerateOwnKeys } from '../../src/features/tenancy/accounts/projects/own-projects.ts'
import { updateProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import { confirmUser, type LoginContext } from '../../src/inbound/login.ts'
import { eq } from '../../src/store/drizzle.ts'
import { projects } from '../../src/store/schema/accounts.ts'
import { makeCertificate } from '../fakes/certificate.ts'
import { connect } from './dialogue.ts'
import { openSubmission, plainLogin } from './submission-server.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('logging in for submission', { concurrency: 8 }, () => {
  it('accepts AUTH PLAIN and AUTH LOGIN, with or without an initial response', async (t) => {
    const { ports, project } = await openSubmission(t)
    const steps = [
      [`AUTH PLAIN ${plainLogin(project.secret)}`],
      ['AUTH PLAIN', plainLogin(project.secret, 'PILLARBOX')],
      ['AUTH LOGIN', base64('pillarbox'), base64(project.secret)],
      [`AUTH LOGIN ${base64('Pillarbox')}`, base64(project.secret)],
      ['AUTH LOGIN', base64('pillarbox'), base64(`${project.secret}\n`)],
    ]
    for (const lines of steps) {
      const client = await connect(ports.plain, { ehlo: 'client.test' })
      const replies = []
      for (const line of lines) replies.push((await client.say(line)).code)
      assert.deepEqual(replies, [...Array(lines.length - 1).fill(334), 235])
      client.close()
    }
  })

  it('refuses a wrong user, a wrong key and a public key with 535 5.7.8', async (t) => {
    const { ports, project } = await openSubmission(t)
    for (const login of [
      plainLogin(project.secret, 'admin'),
      plainLogin(`sk_${'0'.repeat(64)}`),
      plainLogin(project.public),
      plainLogin(''),
    ]) {
      const client = await connect(ports.plain, { ehlo: 'client.test' })
      const { code, text } = await client.say(`AUTH PLAIN ${login}`)
      assert.match(`${code} ${text}`, /^535 5\.7\.8 /)
      assert.equal((await client.say('MAIL FROM:<shop@example.test>')).code, 530)
      client.close()
    }
  })

  it('S10: refuses mail without a login', async (t) => {
    const { ports, rows } = await openSubmission(t)
    const client = await connect(ports.plain, { ehlo: 'client.test' })
    for (const line of ['MAIL FROM:<shop@example.test>', 'RCPT TO:<a@b.test>', 'DATA']) {
      const { code, text } = await client.say(line)
      assert.match(`${code} ${text}`, /^530 5\.7\.0 /, line)
    }
    assert.deepEqual(await rows(), [])
    client.close()
  })

  it('refuses mail without a login of a session whose user smtp-server has set to false', async () => {
    const session = { user: false, secure: true } as unknown as SMTPServerSession
    await assert.rejects(confirmUser({} as LoginContext, session), {
      responseCode: 530,
      message: '5.7.0 Log in first',
    })
  })

  it('refuses an empty sender, and ignores the domains of a source route', async (t) => {
    const { dialogue } = await openSubmission(t)
    const client = await dialogue()
    for (const [line, expected] of [
      ['MAIL FROM:<>', /^550 5\.7\.1 /],
      ['MAIL FROM:<"a@example.test"@other.test>', /^5\d\d 5\./],
      ['MAIL FROM:<shop%other.test@other.test>', /^550 5\.7\.1 /],
      ['MAIL FROM:<@example.test:x@other.test>', /^550 5\.7\.1 /],
    ] as const) {
      const { code, text } = await client.say(line)
      assert.match(`${code} ${text}`, expected, line)
    }
    client.close()
  })

  it('is offered only under TLS, except on loopback', async (t) => {
    const { ports, project, rows } = await openSubmission(t, { isLocal: () => false })
    const client = await connect(ports.plain)
    await client.read()
    const offers = await client.say('EHLO client.test')
    assert.match(offers.text, /STARTTLS/)
    assert.doesNotMatch(offers.text, /AUTH/)
    const auth = await client.say(`AUTH PLAIN ${plainLogin(project.secret)}`)
    assert.notEqual(auth.code, 235)
    const mail = await client.say('MAIL FROM:<shop@example.test>')
    assert.match(`${mail.code} ${mail.text}`, /^530 5\.7\.0 .*STARTTLS/)
    assert.equal((await client.say('STARTTLS')).code, 220)
    const secure = await client.secure()
    assert.match((await secure.say('EHLO client.test')).text, /AUTH PLAIN LOGIN/)
    assert.equal((await secure.say(`AUTH PLAIN ${plainLogin(project.secret)}`)).code, 235)
    await secure.open('shop@example.test', 'ada@dest.test')
    assert.equal((await secure.data('From: shop@example.test\r\n\r\nx')).code, 250)
    assert.equal((await rows()).length, 1)
    secure.close()
  })

  it('is discarded by STARTTLS', async (t) => {
    const { dialogue } = await openSubmission(t)
    const client = await dialogue()
    await client.say('STARTTLS')
    const secure = await client.secure()
    await secure.say('EHLO client.test')
    assert.equal((await secure.say('MAIL FROM:<shop@example.test>')).code, 530)
    secure.close()
  })

  it('offers no STARTTLS without a certificate', async (t) => {
    const { ports, project } = await openSubmission(t, { isClear: true })
    const client = await connect(ports.plain)
    await client.read()
    assert.doesNotMatch((await client.say('EHLO client.test')).text, /STARTTLS/)
    assert.equal((await client.say('STARTTLS')).code, 500)
    assert.equal((await client.say(`AUTH PLAIN ${plainLogin(project.secret)}`)).code, 235)
    client.close()
  })

  it('refuses a disabled project, also one disabled in the middle of a session', async (t) => {
    const { core, project, dialogue, ports, rows } = await openSubmission(t)
    const client = await dialogue()
    await client.open('shop@example.test', 'ada@dest.test')
    await updateProject(core, project.id, { disable: 'MANUAL' })
    const reply = await client.data('From: shop@example.test\r\n\r\nx')
    assert.match(`${reply.code} ${reply.text}`, /^550 5\.7\.1 .*disabled/)
    const other = await connect(ports.plain, { ehlo: 'client.test' })
    const login = await other.say(`AUTH PLAIN ${plainLogin(project.secret)}`)
    assert.match(`${login.code} ${login.text}`, /^535 5\.7\.13 .*disabled/)
    assert.deepEqual(await rows(), [])
    client.close()
    other.close()
  })

  it('accepts the login of a project that is being reset, and its mail only later', async (t) => {
    const { core, project, dialogue, ports, rows } = await openSubmission(t)
    const client = await dialogue()
    await client.open('shop@example.test', 'ada@dest.test')
    await resetProject(core, project.id)
    const reply = await client.data('From: shop@example.test\r\n\r\nx')
    assert.match(`${reply.code} ${reply.text}`, /^451 4\.7\.0 .*being reset/)
    const other = await connect(ports.plain, { ehlo: 'client.test' })
    assert.equal((await other.say(`AUTH PLAIN ${plainLogin(project.secret)}`)).code, 235)
    const refused = await other.say('MAIL FROM:<shop@example.test>')
    assert.match(`${refused.code} ${refused.text}`, /^451 4\.7\.0 .*being reset/)
    assert.deepEqual(await rows(), [])
    client.close()
    other.close()
  })

  it('refuses the key of a deleted project', async (t) => {
    const { core, project, ports } = await openSubmission(t)
    await deleteProject(core, project.id, { force: true })
    const client = await connect(ports.plain, { ehlo: 'client.test' })
    const { code, text } = await client.say(`AUTH PLAIN ${plainLogin(project.secret)}`)
    assert.match(`${code} ${text}`, /^535 5\.7\.8 /)
    client.close()
  })

  it('refuses keys of the sandbox in other modes', async (t) => {
    const settings = {
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
    }
    const { core, project, ports } = await openSubmission(t, { settings })
    await core.store.write(async (tx) => {
      await tx.update(projects).set({ areKeysSandbox: true }).where(eq(projects.id, project.id))
    })
    core.directory.drop()
    const client = await connect(ports.plain, { ehlo: 'client.test' })
    const { code, text } = await client.say(`AUTH PLAIN ${plainLogin(project.secret)}`)
    assert.match(`${code} ${text}`, /^535 5\.7\.8 .*sandbox/)
    client.close()
  })

  it('slows down guessing and disconnects, but accepts a valid key', async (t) => {
    const waits: number[] = []
    const wait = async (ms: number) => void waits.push(ms)
    const { ports, project } = await openSubmission(t, { wait })
    const wrong = `AUTH PLAIN ${plainLogin('sk_wrong')}`
    for (let session = 0; session < 3; session += 1) {
      const client = await connect(ports.plain, { ehlo: 'client.test' })
      assert.equal((await client.say(wrong)).code, 535)
      assert.equal((await client.say(wrong)).code, 535)
      assert.equal((await client.say(wrong)).code, 421)
      client.close()
    }
    assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000])
    for (let session = 0; session < 2; session += 1) {
      const guesser = await connect(ports.plain, { ehlo: 'client.test' })
      assert.match((await guesser.say(wrong)).text, /^4\.7\.0 Too many failed logins/)
      assert.equal(await guesser.ended(), '')
    }
    const neighbour = await connect(ports.plain, { ehlo: 'client.test' })
    assert.equal((await neighbour.say(`AUTH PLAIN ${plainLogin(project.secret)}`)).code, 235)
    neighbour.close()
  })

  it('S25: ends the rights of old keys at once, in sessions that are open too', async (t) => {
    const { core, ports, project, rows } = await openSubmission(t)
    const client = await connect(ports.plain, { ehlo: 'client.test' })
    const logIn = async (secret: string) =>
      (await client.say(`AUTH PLAIN ${plainLogin(secret)}`)).code
    assert.equal(await logIn(project.secret), 235)
    const actor = { projectId: project.id, userId: project.ownerId }
    const { secret } = await regenerateOwnKeys(core, actor)
    const refused = await client.say('MAIL FROM:<shop@example.test>')
    assert.match(`${refused.code} ${refused.text}`, /^535 5\.7\.8 /)
    const other = await connect(ports.plain, { ehlo: 'client.test' })
    const again = (key: string) => other.say(`AUTH PLAIN ${plainLogin(key)}`)
    assert.equal((await again(project.secret)).code, 535)
    assert.equal((await again(secret)).code, 235)
    assert.deepEqual(await rows(), [])
    client.close()
    other.close()
  })

  it('uses a renewed certificate, and keeps the old one while the new one is broken', async (t) => {
    const { files, ports } = await openSubmission(t, { certificatePollMs: 20 })
    const first = await shownBy(ports.tls)
    await writeFile(files.certFile, 'no certificate')
    assert.equal(await shownBy(ports.tls), first)
    const renewed = makeCertificate(['localhost'])
    await writeFile(files.keyFile, renewed.key)
    await writeFile(files.certFile, renewed.cert)
    for (let shown = first; shown === first; ) shown = await shownBy(ports.tls)
    assert.notEqual(await shownBy(ports.tls), first)
  })
})

/** Returns the fingerprint of a listener's certificate. */
async function shownBy(port: number): Promise<string> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}
