/**
 * Mail of every kind of the server to its users, and a search for what must not be read of it: the tokens
 * in its links and its texts, in clear and in the encodings of mail and of addresses.
 */
import assert from 'node:assert/strict'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { monthOf } from '../../../../../src/features/ground/usage/month.ts'
import {
  enqueuePlatformMail,
  type PlatformMail,
} from '../../../../../src/features/tenancy/accounts/platform-mail/enqueue.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { findLinkTokens } from '../../../../../src/formats/link-tokens.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { invitations } from '../../../../../src/store/schema/accounts.ts'
import { addProject, type TestCore } from '../../../../core.ts'
import { addUser } from '../../../../session.ts'
import { mailTo, writeMail } from './mailed.ts'

export type Written = { kind: PlatformMail['kind']; emailId: string; needles: string[] }

type About = { userId: string; address: string; invitationId: string; projectId: string }

/** A new kind of mail has no line here, and does not compile. */
const MAIL: Record<PlatformMail['kind'], (about: About, at: number) => PlatformMail> = {
  'verify-email': ({ userId }) => ({ kind: 'verify-email', userId }),
  'reset-password': ({ address }) => ({ kind: 'reset-password', address }),
  invitation: ({ invitationId }) => ({ kind: 'invitation', invitationId }),
  'project-disabled': ({ projectId }) => ({ kind: 'project-disabled', projectId }),
  'domain-lost': ({ projectId }) => ({ kind: 'domain-lost', projectId, domain: 'lost.test' }),
  'usage-limit': ({ projectId }, at) => ({
    ...{ kind: 'usage-limit', projectId, startsAt: monthOf(at), category: 'campaigns' },
    ...{ percent: 80, limit: 10_000, used: 8_000 },
  }),
}

export const KINDS = Object.keys(MAIL) as PlatformMail['kind'][]

const WITH_LINK: readonly string[] = ['verify-email', 'reset-password', 'invitation']

/** One mail of each kind, to users of their own; the mail project is set. */
export async function writeEveryKind(core: TestCore): Promise<Written[]> {
  const written: Written[] = []
  for (const kind of KINDS) {
    const project = await addProject(core, `Shop of ${kind}`)
    const reader = await addUser(core, { verifiedAt: null })
    const about = { userId: reader.id, address: reader.address, projectId: project.id }
    const invitationId = await invite(core, { ...about, by: project.ownerId })
    if (kind === 'project-disabled') await updateProject(core, project.id, { disable: 'MANUAL' })
    const mail = MAIL[kind]({ ...about, invitationId }, core.now())
    await core.store.write((tx) => enqueuePlatformMail(tx, mail, core.now()))
    await writeMail(core)
    const [found] = [
      ...(await mailTo(core, reader.address)),
      ...(await mailTo(core, project.ownerAddress)),
    ]
    assert.ok(found, kind)
    const tokens = findLinkTokens(found.text)
    assert.equal(tokens.length, WITH_LINK.includes(kind) ? 1 : 0, kind)
    const sentence = found.text.split('\n')[0] ?? ''
    assert.ok(sentence.length > 40, kind)
    written.push({ kind, emailId: found.email.id, needles: [...tokens, sentence] })
  }
  return written
}

async function invite(
  core: TestCore,
  { projectId, address, by }: { projectId: string; address: string; by: string },
): Promise<string> {
  const id = newId()
  const at = core.now()
  const times = { createdAt: at, expiresAt: at + 7 * DAY_MS }
  const row = { id, projectId, address, role: 'MEMBER', invitedBy: by, isMailed: true } as const
  await core.store.write((tx) => tx.insert(invitations).values({ ...row, ...times }))
  return id
}

/** Returns the needles that can be read in octets or a text. */
export function findNeedles(hay: string | Uint8Array, needles: readonly string[]): string[] {
  const text = typeof hay === 'string' ? hay : Buffer.from(hay).toString('latin1')
  const hays = [text]
  if (text.includes('\n')) hays.push(text.replace(/=\r?\n/g, ''), text.replace(/\r?\n/g, ''))
  return needles.filter((needle) => {
    const forms = FORMS.get(needle) ?? formsOf(needle)
    FORMS.set(needle, forms)
    return forms.some((form) => hays.some((one) => one.includes(form)))
  })
}

const FORMS = new Map<string, string[]>()

function formsOf(needle: string): string[] {
  const octets = Buffer.from(needle)
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), octets])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  )
  const urlSafe = shifted.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  const quoted = needle.replaceAll('=', '=3D')
  const escaped = JSON.stringify(needle).slice(1, -1)
  const html = needle.replaceAll('&', '&amp;')
  const hex = octets.toString('hex')
  const forms = [needle, encodeURIComponent(needle), quoted, escaped, html, hex]
  return [...new Set([...forms, ...shifted, ...urlSafe])]
}
