/**
 * Other people's verifiers over what we compose and sign: dkimpy (Debian python3-dkim with
 * python3-nacl for Ed25519) and OpenDKIM. Both read the keys from a file instead of DNS.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test, { after, before } from 'node:test'
import {
  dkimRecord,
  generateDkimKeyPair,
  type SigningKey,
  signDkim,
} from '../../../src/formats/compose/dkim.ts'
import { composeMessage, type MessageInput } from '../../../src/formats/compose/mime-message.ts'
import { PATIENCE_MS } from '../../patience.ts'

const signedAt = Date.now()
const domain = 'xn--bcher-kva.example'
const keys: SigningKey<KeyObject>[] = []
const records: Record<string, string> = {}
let folder = ''

const plain: MessageInput = {
  messageId: '0192f0c4@example.com',
  date: signedAt,
  from: { name: 'Shop', address: `news@${domain}` },
  to: { name: null, address: 'jane@example.org' },
  replyTo: null,
  subject: 'Your order',
  html: '<p>Thank you.</p>',
  text: 'Thank you.',
  headers: [],
  attachments: [],
}

/** What a composer would not write, but a signature must survive. */
const rawMessages: Record<string, string> = {
  emptyBody: 'From: a@b.example\r\nTo: b@c.example\r\nSubject: x\r\n\r\n',
  blankLines: 'From: a@b.example\r\nSubject: x\r\n\r\n\r\n \r\ntext \t \r\n\t\r\n\r\n\r\n',
  spaces:
    'From:a@b.example  \r\nSUBJECT:\t a \t b\r\n\t c \r\nTo:\t d@e.example\r\n\r\n a\t\tb  c\r\n',
  repeated:
    'From: a@b.example\r\nReply-To: one@b.example\r\nCc: x@y.example\r\nReply-To: two@b.example\r\n\r\nx\r\n',
}

const composedMessages: Record<string, MessageInput> = {
  plain,
  textOnly: { ...plain, html: null, text: 'one\n\n  two\t\n.\n..\nFrom here\n' },
  beyondAscii: {
    ...plain,
    from: { name: 'Bücherei „Süd“', address: `größe@${domain}` },
    to: { name: '李雷', address: '用户@xn--fsqu00a.example' },
    subject: `Grüße aus Zürich, ${'schöne Länge '.repeat(20)}`,
    html: `<p>${'äöü 例子 '.repeat(500)}</p>`,
  },
  headers: {
    ...plain,
    replyTo: { name: 'Help', address: `help@${domain}` },
    headers: [
      ['List-Unsubscribe', `<https://example.com/unsubscribe/${'a'.repeat(68)}>`],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ['Feedback-ID', 'campaign:project:type:pillarbox'],
      ['References', Array.from({ length: 60 }, (_, id) => `<${id}@example.com>`).join(' ')],
      ['X-Own', 'value'],
    ],
  },
  attachments: {
    ...plain,
    html: '<img src="cid:logo">',
    attachments: [
      {
        filename: 'logo.png',
        contentType: 'image/png',
        content: Buffer.from('89504e470d0a1a0a', 'hex'),
        contentId: 'logo',
        disposition: 'inline',
      },
      {
        filename: 'Größe.bin',
        contentType: 'application/octet-stream',
        content: Buffer.alloc(300_000, 7),
        contentId: null,
        disposition: 'attachment',
      },
    ],
  },
}

before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'pillarbox-dkim-'))
  for (const keyType of ['rsa', 'ed25519'] as const) {
    const pair = await generateDkimKeyPair(keyType)
    const privateKey = createPrivateKey(pair.privateKey)
    keys.push({ domain, selector: keyType, algorithm: `${keyType}-sha256`, privateKey })
    const name = `${keyType}._domainkey.${domain}`
    records[name] = dkimRecord(keyType, createPublicKey(pair.publicKey))
  }
  const lines = Object.entries(records).map(([name, text]) => `${name} ${text}\n`)
  await writeFile(path.join(folder, 'dns'), lines.join(''))
  await writeFile(path.join(folder, 'dns.json'), JSON.stringify(records))
  const settings = [`TestDNSData file:${path.join(folder, 'dns')}`, 'Mode v', 'Syslog no']
  await writeFile(
    path.join(folder, 'opendkim.conf'),
    `${[...settings, 'AlwaysAddARHeader yes', 'AuthservID test'].join('\n')}\n`,
  )
})

after(() => rm(folder, { recursive: true, force: true }))

/** For each signature of a message file, whether the program takes it. */
type Verifier = (file: string) => boolean[]

const dkimpyScript = `
import dkim, json, sys
records = json.load(open(sys.argv[1]))
message = open(sys.argv[2], 'rb').read()
find = lambda name, timeout=5: records[name.decode().rstrip('.')].encode()
count = message.split(b'\\r\\n\\r\\n')[0].count(b'DKIM-Signature:')
def accepts(index):
    try:
        return bool(dkim.DKIM(message).verify(index, dnsfunc=find))
    except dkim.DKIMException:
        return False
print(json.dumps([accepts(index) for index in range(count)]))
`

function findDkimpy(): Verifier | undefined {
  const python = ['python3', '/usr/bin/python3'].find((program) => {
    return spawnSync(program, ['-c', 'import dkim, nacl']).status === 0
  })
  if (python === undefined) return undefined
  return (file) => {
    const argv = ['-c', dkimpyScript, path.join(folder, 'dns.json'), file]
    return JSON.parse(runProgram(python, argv)) as boolean[]
  }
}

function findOpendkim(): Verifier | undefined {
  const opendkim = ['opendkim', '/usr/sbin/opendkim'].find((program) => {
    return spawnSync(program, ['-V']).status === 0
  })
  if (opendkim === undefined) return undefined
  return (file) => {
    const argv = ['-x', path.join(folder, 'opendkim.conf'), '-vv', '-t', file]
    const results = runProgram(opendkim, argv).matchAll(/^\s*dkim=(\w+)/gm)
    return [...results].map((match) => match[1] === 'pass')
  }
}

function runProgram(program: string, argv: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, argv, {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  })
  assert.equal(status, 0, `${program}: ${error ?? stderr}`)
  return stdout
}

/** A message is a string, each character one octet. */
async function writeSigned(name: string, message: string, above = ''): Promise<string> {
  const file = path.join(folder, `${name}.eml`)
  await writeFile(file, above + signDkim(message, keys, signedAt) + message, 'latin1')
  return file
}

function allMessages(): [name: string, message: string][] {
  const composed = Object.entries(composedMessages).map(([name, input]) => {
    return [name, composeMessage(input).octets] as [string, string]
  })
  return [...Object.entries(rawMessages), ...composed]
}

for (const [program, verifier] of [
  ['dkimpy', findDkimpy()],
  ['OpenDKIM', findOpendkim()],
] as const) {
  const skip = verifier === undefined ? `${program} is not installed` : false

  test(`${program} accepts both signatures of every message`, { skip }, async () => {
    assert.ok(verifier)
    for (const [name, message] of allMessages()) {
      assert.deepEqual(verifier(await writeSigned(name, message)), [true, true], name)
    }
  })

  test(`${program} refuses a message to which a From, To or Subject was added`, {
    skip,
  }, async () => {
    assert.ok(verifier)
    const message = composeMessage(plain).octets
    for (const added of ['From: evil@example.net', 'To: evil@example.net', 'Subject: evil']) {
      const file = await writeSigned('forged', message, `${added}\r\n`)
      assert.deepEqual(verifier(file), [false, false], added)
    }
  })
}
