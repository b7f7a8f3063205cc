/** The second step: name and mode of the server. They are read at its start, so the page shows the lines to copy. */
import { useState } from 'preact/hooks'
import { config, reloadConfig } from '../../api/session.ts'
import { formatServerLines, type ServerSettings } from '../../logic/server-lines.ts'
import { t, tx } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import { Field, TextField } from '../../ui/field.tsx'
import { FormBox, Submit, useForm } from '../../ui/form.tsx'
import { hostName } from '../../ui/link.ts'
import { Failed } from '../../ui/state.tsx'

const MODES = ['direct', 'relay', 'sandbox'] as const

export function ServerStep({ onDone }: { onDone(): void }) {
  const running: ServerSettings = {
    baseUrl: config.value?.urls.api ?? '',
    hostname: config.value?.hostname ?? hostName(),
    mode: config.value?.environment ?? 'sandbox',
  }
  const [wanted, setWanted] = useState<ServerSettings>(running)
  const { relay = { host: '', port: '', username: '' } } = wanted
  const form = useForm(async () => onDone())
  const read = (event: Event) => {
    const values = Object.fromEntries(
      new FormData(event.currentTarget as HTMLFormElement),
    ) as Record<string, string>
    const { baseUrl = '', hostname = '', mode } = values
    const { host = '', port = '', username = '' } = values
    setWanted({
      ...{ baseUrl: baseUrl.replace(/\/+$/, ''), hostname, relay: { host, port, username } },
      mode: MODES.find((one) => one === mode) ?? running.mode,
    })
  }
  const lines = formatServerLines(wanted, running)
  return (
    <div onInput={(event) => read({ ...event, currentTarget: form.props.ref.current } as never)}>
      <FormBox form={form}>
        <TextField
          {...{ form, name: 'baseUrl', label: t('setup.server.url'), type: 'url', required: true }}
          hint={t('setup.server.url.hint')}
          defaultValue={running.baseUrl}
        />
        <TextField
          {...{ form, name: 'hostname', label: t('setup.server.host'), required: true }}
          hint={t('setup.server.host.hint')}
          defaultValue={running.hostname}
        />
        <Field
          {...{ form, name: 'mode', label: t('setup.server.mode') }}
          hint={t(`setup.mode.${wanted.mode}.text`)}
        >
          {(control) => (
            <select {...control} defaultValue={running.mode}>
              {MODES.map((mode) => (
                <option key={mode} value={mode} selected={mode === wanted.mode}>
                  {t(`setup.mode.${mode}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {wanted.mode === 'relay' && running.mode !== 'relay' && (
          <>
            <TextField
              {...{ form, name: 'host', label: t('setup.relay.host'), required: true }}
              defaultValue={relay.host}
            />
            <TextField
              {...{
                form,
                name: 'port',
                label: t('setup.relay.port'),
                hint: t('setup.relay.port.hint'),
              }}
              inputMode="numeric"
              pattern="[0-9]{1,5}"
              defaultValue={relay.port}
            />
            <TextField
              {...{ form, name: 'username', label: t('setup.relay.user') }}
              hint={t('setup.relay.user.hint')}
              autocomplete="off"
              defaultValue={relay.username}
            />
          </>
        )}
        <Lines text={lines} />
        <Submit form={form} class="main">
          {t('form.next')}
        </Submit>
      </FormBox>
    </div>
  )
}

function Lines({ text }: { text: string }) {
  const [failure, setFailure] = useState<unknown>()
  const look = () => {
    setFailure(undefined)
    reloadConfig().catch(setFailure)
  }
  if (text === '') return <p class="note good">{t('setup.server.same')}</p>
  return (
    <div class="stack">
      <p>{tx('setup.server.lines', { file: <code>pillarbox.toml</code> })}</p>
      <pre class="code" dir="ltr">
        {text}
      </pre>
      <p class="row">
        <Copy text={text} />
        <button class="btn" type="button" onClick={look}>
          {t('setup.server.again')}
        </button>
      </p>
      {failure !== undefined && <Failed error={failure} />}
      <p class="small muted">
        {tx('setup.server.restart', { command: <code>systemctl restart pillarbox</code> })}
      </p>
    </div>
  )
}
