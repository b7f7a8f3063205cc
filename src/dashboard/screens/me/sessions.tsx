/** Where the user is signed in, and the end of each of these sessions. */
import { useState } from 'preact/hooks'
import { type Answer, ApiFailure, call } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { deviceOf } from '../../logic/device.ts'
import { t } from '../../text/text.ts'
import { Panel } from '../../ui/panel.tsx'
import { SignOut } from '../../ui/sign-out.tsx'
import { Failed } from '../../ui/state.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'

type Session = Answer<'GET /users/@me/sessions'>[number]

/** The call of the list, for those who change it. */
export const SESSIONS = 'GET /users/@me/sessions'

export function Sessions() {
  const query = useCall(SESSIONS)
  const { data, refetch } = query
  const [ending, setEnding] = useState<readonly string[]>([])
  const [failure, setFailure] = useState<unknown>()
  const others = (data ?? []).filter(({ current }) => !current)
  const end = async (ids: readonly string[]) => {
    setFailure(undefined)
    setEnding(ids)
    try {
      for (const id of ids) await endSession(id)
    } catch (reason) {
      setFailure(reason)
    }
    await refetch()
    setEnding([])
  }
  return (
    <section class="section">
      <div class="row">
        <h2 class="grow">{t('account.sessions')}</h2>
        {others.length > 0 && (
          <button
            class="btn"
            type="button"
            disabled={ending.length > 0}
            onClick={() => end(others.map(({ id }) => id))}
          >
            {t('account.sessions.endOthers', { count: others.length })}
          </button>
        )}
      </div>
      {failure !== undefined && <Failed error={failure} title={t('form.failed')} />}
      <Panel query={query} rows={3}>
        {(sessions) => (
          <ul class="sessions" aria-busy={ending.length > 0}>
            {sessions.map((session) => (
              <li key={session.id}>
                <SessionLine
                  session={session}
                  isEnding={ending.includes(session.id)}
                  onEnd={() => end([session.id])}
                />
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </section>
  )
}

type LineProps = { session: Session; isEnding: boolean; onEnd(): void }

function SessionLine({ session, isEnding, onEnd }: LineProps) {
  const { current, ip, userAgent, lastUsedAt, createdAt } = session
  const device = deviceOf(userAgent) ?? t('account.sessions.unknown')
  return (
    <>
      <div class="grow">
        <p>
          <b title={userAgent ?? undefined}>{device}</b>{' '}
          {current && <Status tone="good">{t('account.sessions.this')}</Status>}
        </p>
        <p class="small muted">
          {ip !== null && <span class="mono">{ip}</span>} {t('account.sessions.used')}{' '}
          <Time at={lastUsedAt} form="relative" />, {t('account.sessions.since')}{' '}
          <Time at={createdAt} />
        </p>
      </div>
      {current ? (
        <SignOut />
      ) : (
        <button
          class="btn"
          type="button"
          disabled={isEnding}
          aria-label={t('account.sessions.endOf', { device })}
          onClick={onEnd}
        >
          {t('account.sessions.end')}
        </button>
      )}
    </>
  )
}

/** A session that ended by itself meanwhile is what was wanted. */
async function endSession(id: string): Promise<void> {
  try {
    await call('DELETE /users/@me/sessions/{id}', { params: { id } })
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 404) throw error
  }
}
