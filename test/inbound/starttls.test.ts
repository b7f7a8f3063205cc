import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { InboundOptions } from '../../src/inbound/listener.ts'
import { type Certificate, makeCertificate } from '../fakes/certificate.ts'
import { inTime } from '../patience.ts'
import { connect, type Dialogue } from './dialogue.ts'
import { openInbound } from './inbound-server.ts'

async function openSecureServer(t: TestContext, options: InboundOptions = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-tls-'))
  t.after(() => rm(folder, { recursive: true }))
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
  const install = async ({ cert, key }: Certificate) => {
    await writeFile(certFile, cert)
    await writeFile(keyFile, key)
  }
  await install(makeCertificate(['first.test']))
  const settings = { PILLARBOX_INBOUND__TLS_CERT: certFile, PILLARBOX_INBOUND__TLS_KEY: keyFile }
  const server = await openInbound(t, { settings, certificatePollMs: 10, ...options })
  return { ...server, install, certFile }
}

async function secured(client: Dialogue): Promise<Dialogue> {
  assert.equal((await client.say('STARTTLS')).code, 220)
  return client.secure()
}

const nameOf = ({ socket }: Dialogue) => (socket as TLSSocket).getPeerCertificate().subject.CN

describe('a session that starts TLS', { concurrency: true }, () => {
  it('a message over TLS is stored with its protocol', async (t) => {
    const { dial, rows, returnPath } = await openSecureServer(t)
    const plain = await dial()
    assert.match((await plain.say('EHLO client.test')).text, /^STARTTLS$/m)
    const client = await secured(plain)
    assert.equal(
      (await client.say('MAIL FROM:<>')).code,
      503,
      'what was said in clear is forgotten',
    )
    const { text } = await client.say('EHLO client.test')
    assert.doesNotMatch(text, /STARTTLS|REQUIRETLS|AUTH/)
    await client.open('', returnPath)
    assert.equal((await client.data('Subject: x\r\n\r\n')).code, 250)
    const [row] = await rows()
    assert.match(row?.tls ?? '', /^TLSv1\.3 TLS_/)
    assert.match(String(row?.raw), /\r\n\t\(TLSv1\.3 TLS_\w+\)\r\n\tby \S+ with ESMTPS id /)
  })

  it('S4: commands in the same packet as STARTTLS are dropped', async (t) => {
    const { dial, rows, returnPath } = await openSecureServer(t)
    const envelope = `MAIL FROM:<injected@bank.test>\r\nRCPT TO:<${returnPath}>\r\n`
    const attacks = [
      `STARTTLS\r\n${envelope}DATA\r\n`,
      `STARTTLS\r\nEHLO injected.test\r\n${envelope}`,
      `STARTTLS\r\n${'NOOP\r\n'.repeat(250)}`,
      'STARTTLS\r\nMAIL FROM:<half',
    ]
    for (const attack of attacks) {
      const plain = await dial()
      plain.write(attack)
      assert.equal((await plain.read()).code, 220)
      const client = await plain.secure()
      const reply = await client.say('EHLO client.test')
      assert.equal(reply.code, 250, attack.slice(0, 40))
      assert.match(reply.text, /PIPELINING/)
      assert.equal(
        (await client.say(`RCPT TO:<${returnPath}>`)).text,
        '5.5.1 Error: need MAIL command',
      )
      assert.deepEqual(await client.say('NOOP'), { code: 250, text: '2.0.0 OK' })
      client.close()
    }
    assert.deepEqual(await rows(), [])
  })

  it('S4: commands before STARTTLS do not count after it', async (t) => {
    const { dial, returnPath } = await openSecureServer(t)
    const plain = await dial()
    await plain.say('MAIL FROM:<injected@bank.test>')
    await plain.say(`RCPT TO:<${returnPath}>`)
    const client = await secured(plain)
    await client.say('EHLO client.test')
    assert.equal((await client.say('DATA')).code, 503)
  })

  it('S4: more than one line before the reply to EHLO is refused, over TLS too', async (t) => {
    const { port, dial, rows, returnPath } = await openSecureServer(t)
    const early = `EHLO client.test\r\nMAIL FROM:<>\r\nRCPT TO:<${returnPath}>\r\nDATA\r\n`
    const greeted = await connect(port)
    await greeted.read()
    greeted.write(early)
    assert.match(await greeted.ended(), /^554 5\.5\.0 [^\r\n]*\r\n$/)
    const client = await secured(await dial())
    client.write(early)
    assert.match(await client.ended(), /^554 5\.5\.0 [^\r\n]*\r\n$/)
    const hasty = await connect(port)
    hasty.write('EHLO client.test\r\n')
    assert.match(await hasty.ended(), /^421 [^\r\n]*too soon\r\n$/)
    assert.deepEqual(await rows(), [])
  })

  it('after EHLO, commands may come in one packet and each gets its reply', async (t) => {
    const { dial, rows, returnPath } = await openSecureServer(t)
    const client = await dial()
    client.write(`MAIL FROM:<>\r\nRCPT TO:<${returnPath}>\r\nRCPT TO:<a@b.test>\r\nDATA\r\n`)
    const codes: number[] = []
    for (let index = 0; index < 4; index += 1) codes.push((await client.read()).code)
    assert.deepEqual(codes, [250, 250, 550, 354])
    client.write('Subject: x\r\n\r\n.\r\nQUIT\r\n')
    assert.equal((await client.read()).code, 250)
    assert.equal((await client.read()).code, 221)
    assert.equal((await rows()).length, 1)
  })

  it('a renewed certificate is used without a restart; a broken pair is not', async (t) => {
    const { core, dial, install, certFile } = await openSecureServer(t)
    const said = { info: Promise.withResolvers<void>(), error: Promise.withResolvers<void>() }
    core.log.info = (() => said.info.resolve()) as never
    core.log.error = (() => said.error.resolve()) as never
    assert.equal(nameOf(await greetedOverTls(dial)), 'first.test')
    await writeFile(certFile, makeCertificate(['alone.test']).cert)
    await said.error.promise
    assert.equal(nameOf(await greetedOverTls(dial)), 'first.test')
    await install(makeCertificate(['second.test']))
    await said.info.promise
    assert.equal(nameOf(await greetedOverTls(dial)), 'second.test')
  })

  it('stop also ends the handshakes of clients that never disconnect', async (t) => {
    const { port, service } = await openSecureServer(t)
    const hello = Buffer.from('16030100c8010000c40303', 'hex')
    for (const octets of ['', hello]) {
      const client = await connect(port, { ehlo: 'client.test', stays: true })
      t.after(client.close)
      assert.equal((await client.say('STARTTLS')).code, 220)
      client.write(octets)
    }
    await inTime(service.stop(100), 'the end')
  })

  it('a connection is counted until it ends, over TLS too', async (t) => {
    const { port, dial } = await openSecureServer(t, { limits: { connectionsPerAddress: 1 } })
    const client = await greetedOverTls(dial)
    const extra = await connect(port)
    assert.match(await extra.ended(), /^421 4\.7\.0 /)
    client.close()
    await client.ended()
    for (let code = 421; code === 421; ) code = (await (await dial()).say('NOOP')).code
  })
})

async function greetedOverTls(dial: () => Promise<Dialogue>): Promise<Dialogue> {
  const client = await secured(await dial())
  assert.equal((await client.say('EHLO client.test')).code, 250)
  return client
}
