/** The last step: the first project, and the domain that its mail comes from. */
import { useEffect, useState } from 'preact/hooks'
import { type Answer, call } from '../../api/client.ts'
import { failureOf, queryClient, useCall } from '../../api/queries.ts'
import { projects, reloadProjects } from '../../api/session.ts'
import { codeText, t, tx } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { freshKeys } from '../../ui/fresh-keys.ts'
import { Panel } from '../../ui/panel.tsx'
import { Failed } from '../../ui/state.tsx'
import { Status } from '../../ui/status.tsx'
import { KeyBox } from '../onboarding/key-box.tsx'

type Domain = Answer<'GET /domains/project/{projectId}'>[number]
type DnsRecord = Domain['records'][number]

const LIST = 'GET /domains/project/{projectId}'

export function ProjectStep({ onDone }: { onDone(): void }) {
  const [project] = projects.value
  const keys = freshKeys.value
  if (project === undefined) return <ProjectForm />
  const named = <p>{tx('setup.project.is', { name: <b>{project.name}</b> })}</p>
  if (keys?.projectId === project.id) {
    return (
      <div class="stack">
        {named}
        <KeyBox keys={keys} takesFocus onKept={() => (freshKeys.value = undefined)} />
      </div>
    )
  }
  return (
    <div class="stack">
      {named}
      <Domains project={project.id} />
      <p>
        <button class="btn main" type="button" onClick={onDone}>
          {t('setup.finish')}
        </button>
      </p>
    </div>
  )
}

function ProjectForm() {
  const form = useForm(async ({ name = '' }) => {
    const made = await call('POST /users/@me/projects', { body: { name } })
    freshKeys.value = { projectId: made.id, secret: made.secret, public: made.public }
    await reloadProjects()
  })
  return (
    <FormBox form={form}>
      <p>{t('setup.project.text')}</p>
      <TextField
        {...{ form, name: 'name', label: t('setup.project.name'), required: true }}
        hint={t('setup.project.hint')}
        maxLength={100}
        autocomplete="off"
      />
      <FormFailure form={form} />
      <Submit form={form} class="main">
        {t('setup.project.make')}
      </Submit>
    </FormBox>
  )
}

export function Domains({ project }: { project: string }) {
  const query = useCall(LIST, {
    ...{ params: { projectId: project }, project },
  })
  return (
    <Panel query={query} rows={2}>
      {([domain]) =>
        domain === undefined ? (
          <DomainForm project={project} onMade={() => void query.refetch()} />
        ) : (
          <DomainRecords domain={domain} />
        )
      }
    </Panel>
  )
}

type DomainFormProps = { project: string; onMade(): void }

function DomainForm({ project, onMade }: DomainFormProps) {
  const form = useForm(async ({ domain = '' }) => {
    await call('POST /domains', { project, body: { domain: domain.trim() } })
    onMade()
  })
  return (
    <FormBox form={form}>
      <TextField
        {...{ form, name: 'domain', label: t('setup.domain.name'), required: true }}
        hint={t('setup.domain.hint')}
        autocomplete="off"
        isLiteral
      />
      <FormFailure form={form} />
      <Submit form={form} class="">
        {t('setup.domain.add')}
      </Submit>
    </FormBox>
  )
}

/** The records to publish. The page looks again by itself, so it turns to verified without a reload. */
function DomainRecords({ domain }: { domain: Domain }) {
  const [isVerified, setVerified] = useState(domain.verified)
  const query = useCall(
    'GET /domains/{id}/verify',
    { params: { id: domain.id }, project: domain.projectId },
    { poll: 'domain', isEnabled: !isVerified },
  )
  const { data } = query
  const failure = isVerified ? null : failureOf(query)
  useEffect(() => {
    if (data?.verified !== true || isVerified) return
    setVerified(true)
    // The next step waits for a verified domain.
    void queryClient.invalidateQueries({ queryKey: [LIST] })
  }, [data?.verified])
  const records = data?.records ?? domain.records
  return (
    <section class="stack" aria-label={domain.domain}>
      <p class="row between">
        <b>{domain.domain}</b>
        <span role="status">
          <Status tone={isVerified ? 'good' : 'live'}>
            {isVerified ? t('setup.domain.verified') : t('setup.domain.looking')}
          </Status>
        </span>
      </p>
      {failure !== null && (
        <Failed error={failure} asOf={query.dataUpdatedAt} onRetry={() => void query.refetch()} />
      )}
      {isVerified ? (
        <details>
          <summary class="small">{t('setup.domain.show', { count: records.length })}</summary>
          <Records records={records} />
        </details>
      ) : (
        <>
          <p class="small muted">{t('setup.domain.records')}</p>
          <Records records={records} />
        </>
      )}
    </section>
  )
}

function Records({ records }: { records: readonly DnsRecord[] }) {
  return (
    <ul class="checks">
      {records.map((record) => (
        <li key={`${record.type} ${record.name} ${record.purpose}`}>
          <RecordLine record={record} />
        </li>
      ))}
    </ul>
  )
}

function RecordLine({ record }: { record: DnsRecord }) {
  const { name, type, value, state, purpose } = record
  const isThere = state === 'found'
  return (
    <div class="grow">
      <p class="row between small">
        <Status tone={isThere ? 'good' : state === 'different' ? 'bad' : 'off'}>
          <b>{type}</b> {codeText('dns', purpose) ?? purpose}
        </Status>
        <span class="muted">{t(`setup.domain.${needOf(record)}`)}</span>
      </p>
      {purpose === 'replies' && (
        <p class="small">{t('dns.replies.risk', { name, other: `replies.${name}` })}</p>
      )}
      {[name, value].map((text) => (
        <div class="fix" key={text}>
          <code class="code wrap">{text}</code>
          <Copy text={text} isIcon />
        </div>
      ))}
    </div>
  )
}

/** Who publishes the record for replies loses the mailboxes of the domain, so it is not recommended. */
function needOf({ required, purpose }: DnsRecord): 'required' | 'recommended' | 'optional' {
  if (required) return 'required'
  return purpose === 'replies' ? 'optional' : 'recommended'
}
