/** The third step: the checks of the server. What is wrong stands first, with what to do. */
import type { ComponentProps } from 'preact'
import { type Answer, call } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { codeText, t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'

type Check = Answer<'GET /health/checks'>['checks'][number]

/** The server runs its checks once a minute at most, also for those who ask for fresh ones. */
const POLL_MS = 20_000
const TONES: Readonly<Record<Check['status'], ComponentProps<typeof Status>['tone']>> = {
  failed: 'bad',
  warning: 'warn',
  ok: 'good',
  skipped: 'off',
}

export function ChecksStep({ onDone }: { onDone(): void }) {
  const query = useCall('GET /health/checks', { query: { fresh: 'true' } }, { poll: POLL_MS })
  const form = useForm(async () => {
    await call('GET /health/checks', { query: { fresh: 'true' } })
    await query.refetch()
  })
  return (
    <div class="stack">
      <p>{t('setup.checks.text')}</p>
      <Panel query={query} rows={6}>
        {({ checks, finishedAt }) => <Checks checks={checks} at={finishedAt} />}
      </Panel>
      <FormBox form={form} class="row">
        <button class="btn main" type="button" onClick={onDone}>
          {t('form.next')}
        </button>
        <Submit form={form} class="">
          {t('setup.checks.again')}
        </Submit>
        <FormFailure form={form} />
      </FormBox>
    </div>
  )
}

function Checks({ checks, at }: { checks: readonly Check[]; at: string }) {
  const open = [
    ...checks.filter(({ status }) => status === 'failed'),
    ...checks.filter(({ status }) => status === 'warning'),
  ]
  const well = checks.filter(({ status }) => status === 'ok')
  const skipped = checks.filter(({ status }) => status === 'skipped')
  return (
    <>
      <ul class="checks" aria-live="polite">
        {open.map((check) => (
          <li key={check.id}>
            <OpenCheck check={check} />
          </li>
        ))}
      </ul>
      {open.length === 0 && <Status tone="good">{t('setup.checks.well')}</Status>}
      <details>
        <summary class="small">
          {t('setup.checks.rest', { well: well.length, skipped: skipped.length })}
        </summary>
        <ul class="small">
          {[...well, ...skipped].map(({ id, status, evidence }) => (
            <li key={id}>
              <Status tone={TONES[status]}>{nameOf(id)}</Status>{' '}
              <span class="muted" lang="en">
                {evidence}
              </span>
            </li>
          ))}
        </ul>
      </details>
      <p class="small muted">
        {t('setup.checks.at')} <Time at={at} />
      </p>
    </>
  )
}

function OpenCheck({ check }: { check: Check }) {
  const { id, status, evidence, fix } = check
  return (
    <div class="grow">
      <p>
        <Status tone={TONES[status]}>
          <b>{nameOf(id)}</b>
        </Status>
      </p>
      <p class="small" lang="en">
        {evidence}
      </p>
      {fix !== null && (
        <div class="fix">
          <pre class="code wrap" lang="en">
            {fix}
          </pre>
          <Copy text={fix} isIcon />
        </div>
      )}
    </div>
  )
}

function nameOf(id: string): string {
  return codeText('check', id) ?? id
}
