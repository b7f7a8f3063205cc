/** The step that sends: by a program, whose text stands here, or from the page. */
import { useState } from 'preact/hooks'
import { base, call } from '../../api/client.ts'
import { config, type Project, user } from '../../api/session.ts'
import { SNIPPETS, type SnippetKind, writeSnippet } from '../../logic/snippets.ts'
import { t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { Field } from '../../ui/field.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { whyNot } from '../../ui/why-not.ts'
import { FreshKeys } from './fresh-keys.tsx'
import { NewKeys } from './new-keys.tsx'

type SendStepProps = {
  project: Project
  /** Undefined until a domain is verified. */
  sender: string | undefined
  isDone: boolean
  onSent(): void
}

export function SendStep({ project, sender, isDone, onSent }: SendStepProps) {
  return (
    <li class={isDone ? 'good' : sender === undefined ? '' : 'next'}>
      <p class={sender === undefined ? 'muted' : ''}>
        <b>{t('first.send')}</b>
      </p>
      <p class="small muted">{t(sender === undefined ? 'first.send.later' : 'first.send.text')}</p>
      <FreshKeys />
      {sender !== undefined && <Sending {...{ project, sender, onSent }} />}
    </li>
  )
}

type SendingProps = { project: Project; sender: string; onSent(): void }

function Sending({ project, sender, onSent }: SendingProps) {
  const [to, setTo] = useState(user.value?.email ?? '')
  const [kind, setKind] = useState<SnippetKind>('curl')
  const [isAsking, setAsking] = useState(false)
  const mail = {
    ...{ from: sender, to: to.trim(), subject: t('first.subject') },
    body: `<p>${t('first.body')}</p>`,
  }
  const form = useForm(async () => {
    await call('POST /emails/test', { project: project.id, body: mail })
    onSent()
  })
  const keyObstacle = whyNot(project, 'ADMIN')
  const snippet = writeSnippet(kind, sendingPlace(), mail)
  return (
    <div class="step">
      <fieldset class="seg text">
        <legend class="sr">{t('first.language')}</legend>
        {SNIPPETS.map((one) => (
          <button key={one} type="button" aria-pressed={one === kind} onClick={() => setKind(one)}>
            {t(`first.${one}`)}
          </button>
        ))}
      </fieldset>
      {snippet === undefined ? (
        <p class="note">
          <span>
            {t('first.smtp.off')}{' '}
            <a href={`${base}/docs/guide/submission`}>{t('first.smtp.guide')}</a>
          </span>
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without a mouse, only the focus can scroll it.
        <section class="code" tabIndex={0} aria-label={t(`first.${kind}`)}>
          <code>{snippet}</code>
        </section>
      )}
      <p class="row">
        {snippet !== undefined && <Copy text={snippet} />}
        <button
          class="btn quiet"
          type="button"
          disabled={keyObstacle !== undefined}
          onClick={() => setAsking(true)}
        >
          <Icon name="key" />
          {t('first.newKey')}
        </button>
        {keyObstacle !== undefined && <span class="xs muted">{keyObstacle}</span>}
      </p>
      <p class="xs muted">{t('first.key', { key: project.secret })}</p>
      <FormBox form={form} class="send-here">
        <Field
          {...{ form, name: 'to', label: t('first.to') }}
          hint={t(config.value?.environment === 'sandbox' ? 'first.to.hint' : 'first.to.real')}
        >
          {(control) => (
            <input
              {...control}
              type="email"
              required
              autocomplete="email"
              value={to}
              onInput={({ currentTarget }) => setTo(currentTarget.value)}
            />
          )}
        </Field>
        <Submit form={form} obstacle={whyNot(project)}>
          <Icon name="send" />
          {t('first.here')}
        </Submit>
      </FormBox>
      <FormFailure form={form} />
      {isAsking && <NewKeys project={project} onClose={() => setAsking(false)} />}
    </div>
  )
}

/** Where programs send: the API by its public address, and the port that takes mail over SMTP. */
function sendingPlace() {
  const { urls, features } = config.value ?? {}
  const { enabled = false, domain = null, ports = null } = features?.smtp ?? {}
  const url = (urls?.api ?? location.origin).replace(/\/$/, '')
  const port = ports?.submission ?? ports?.secure ?? null
  if (!enabled || port === null) return { url, submission: undefined }
  const host = domain ?? new URL(url).hostname
  return { url, submission: { host, port, isTls: ports?.submission === null } }
}
