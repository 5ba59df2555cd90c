// What is drawn of a view: functions of data, without requests and without state.
import { html, svg, nothing } from './lit/lit-html.js';
import { repeat } from './lit/directives/repeat.js';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

const tenths = (amount) => Math.round(10 * amount) / 10;

/** Bytes for people: 8 GiB, 1.5 TiB, 11.5 GiB. */
export function bytes(amount) {
  let unit = 0;
  let rest = amount;
  while (tenths(rest) >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${tenths(rest)} ${UNITS[unit]}`;
}

/** Percent of a card, in cards: 250 are 2.5. */
export const cards = (percent) => String(Number((percent / 100).toFixed(1)));

const many = (count, thing) => `${count} ${thing}${count === 1 ? '' : 's'}`;
const part = (amount, of) => of > 0 ? Math.min(100, 100 * amount / of) : 0;
const percent = (amount, of) => `${Math.round(part(amount, of))} %`;
const known = (amount, words) => amount === undefined || amount === null ? 'unknown' : words(amount);

/** How long ago, in the largest unit: 5 min. */
export function ago(time) {
  const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) {
    return '';
  }
  const [size, unit] = seconds < 120 ? [1, 's'] : seconds < 7200 ? [60, 'min'] : seconds < 172800 ? [3600, 'h'] : [86400, 'd'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

export const claimLink = (namespace, name) => `#/claim/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
const podLink = (namespace, name) => `#/pod/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;

/** Rows that keep their elements while others come and go: what has the focus, or is being clicked, stays what it is. */
function rows(items, name, draw) {
  const met = new Map();
  return repeat(items, (item, i) => {
    const key = name(item, i);
    met.set(key, (met.get(key) ?? 0) + 1);
    return `${key} ${met.get(key)}`;
  }, draw);
}

const partName = (piece) => piece.claim ? `${piece.namespace}/${piece.claim}` : piece.kind;

function figures(totals) {
  return html`<div class="figures">
    <div><b>${totals.nodesReady} of ${totals.nodes}</b><span>nodes ready</span></div>
    <div><b>${totals.cardsAvailable} of ${totals.cards}</b><span>cards available</span></div>
    <div><b>${percent(totals.memoryAllocated, totals.memory)}</b><span>of memory held: ${bytes(totals.memoryAllocated)} of ${bytes(totals.memory)}</span></div>
    <div><b>${percent(totals.memoryUsed, totals.memoryAllocated)}</b><span>of that used: ${bytes(totals.memoryUsed)}</span></div>
    <div><b>${percent(totals.coresAllocated, totals.cores)}</b><span>of cores set aside: ${cards(totals.coresAllocated)} of ${cards(totals.cores)} cards</span></div>
  </div>`;
}

const KINDS = { share: 'share', whole: 'whole card', mig: 'MIG instance', turn: 'by time-slicing', others: 'of others', held: 'held for claims that are gone' };

function partWords(piece) {
  const who = piece.claim ? `${piece.namespace}/${piece.claim}` : KINDS[piece.kind];
  const cores = piece.cores > 0 ? `, ${piece.cores} % of cores` : '';
  const used = piece.memoryUsed === undefined ? '' : `, ${bytes(piece.memoryUsed)} used`;
  return `${who}: ${bytes(piece.memory)}${cores}${used}`;
}

function bar(card) {
  let at = 0;
  const draw = (piece) => {
    const width = part(piece.memory, card.memory);
    const gap = Math.min(0.4, width / 4);
    const kind = piece.kind === 'others' ? 'others' : piece.kind === 'held' ? 'lost' : 'held';
    const used = piece.memoryUsed ? part(piece.memoryUsed, piece.memory) / 100 * (width - gap) : 0;
    const drawn = svg`<g><title>${partWords(piece)}</title>
      <rect class=${kind} x=${at} y="0" width=${Math.max(0, width - gap)} height="10"></rect>
      ${used ? svg`<rect class="used" x=${at} y="5" width=${used} height="5"></rect>` : nothing}</g>`;
    at += width;
    return piece.claim ? svg`<a href=${claimLink(piece.namespace, piece.claim)} aria-label=${partWords(piece)}>${drawn}</a>` : drawn;
  };
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="group"
    aria-label="${bytes(card.memoryAllocated)} of ${bytes(card.memory)} held">${rows(card.parts, partName, draw)}</svg>`;
}

function cardBox(card) {
  return html`<div class="card" data-uuid=${card.uuid}>
    <p><b>${card.index}</b> ${card.model}
      ${card.standing === 'Available' ? nothing : html`<b class="bad">${card.standing}</b>`}
      <span class="dim">${bytes(card.memoryAllocated)} of ${bytes(card.memory)} held, ${card.coresAllocated} % of cores</span></p>
    ${card.problem ? html`<p class="bad">${card.problem}</p>` : nothing}
    ${bar(card)}
    <ul class="parts">${rows(card.parts, partName, (piece) => html`<li>${piece.claim
      ? html`<a href=${claimLink(piece.namespace, piece.claim)}>${piece.namespace}/${piece.claim}</a>${partWords(piece).slice(piece.namespace.length + piece.claim.length + 1)}`
      : html`<span class="dim">${partWords(piece)}</span>`}</li>`)}</ul>
  </div>`;
}

const legend = html`<p class="legend"><span><i class="held"></i>held by a claim</span><span><i class="used"></i>used of it</span>
  <span><i class="others"></i>held by others</span><span><i class="lost"></i>held for claims that are gone</span><span><i class="free"></i>free</span></p>`;

/** What a list without rows says. */
const noRow = (searched, none) => searched ? 'Nothing that you may see matches the search.' : none;

function nodes(view, searched) {
  return html`${figures(view.totals)}${legend}
    ${rows(view.nodes.rows, (node) => node.name, (node) => html`<section class="node box" data-node=${node.name}>
      <h3>${node.name} ${node.problem ? html`<span class="bad">${node.problem}</span>` : nothing}</h3>
      <div class="cards">${rows(node.cards, (card) => card.uuid, cardBox)}</div></section>`)}
    ${view.nodes.total === 0 ? html`<p class="message">${noRow(searched, 'No node with cards is to be shown.')}</p>` : nothing}`;
}

/** Of rows with a name each and a cell for each word of the head. */
function table(head, lines, none) {
  return lines.length === 0 ? html`<p class="message">${none}</p>` : html`<div class="scroll"><table class="narrow"><thead><tr>
    ${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead><tbody>
    ${rows(lines, (line) => line.name, ({ cells }) => html`<tr>${cells.map((cell, i) => html`<td data-name=${head[i]}>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** How much of it is used, in words and as a bar; more than there is of it is marked. */
function gauge(used, of, words) {
  return known(used, () => html`${words(used)}
    <svg class="bar gauge" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${of > 0 ? Math.round(100 * used / of) : 0} % of it used">
      <rect class=${used > of ? 'over' : 'used'} x="0" y="0" height="10" width=${part(used, of)}></rect></svg>`);
}

function claims(view, searched) {
  return table(['Claim', 'Node', 'Card', 'Kind', 'Memory', 'Used', 'Cores', 'Cores used', 'By'],
    view.claims.rows.map((row) => ({ name: `${partName(row.part)} ${row.node} ${row.index}`, cells: [
      html`<a href=${claimLink(row.part.namespace, row.part.claim)}>${row.part.namespace}/${row.part.claim}</a>`, row.node,
      `${row.index} ${row.model}`, KINDS[row.part.kind], bytes(row.part.memory), gauge(row.part.memoryUsed, row.part.memory, bytes),
      `${row.part.cores} %`, gauge(row.part.coresUsed, row.part.cores || 100, (used) => `${used} %`), row.part.users.join(', ')] })),
    noRow(searched, 'No claim holds anything of a card that you may see.'));
}

function pods(view, searched) {
  return table(['Pod', 'Waits', 'Reason', 'Why'],
    view.pods.rows.map((pod) => ({ name: `${pod.namespace}/${pod.name}`, cells: [html`<a href=${podLink(pod.namespace, pod.name)}>${pod.namespace}/${pod.name}</a>`, ago(pod.since),
      pod.reason, pod.message] })),
    noRow(searched, 'No pod that you may see waits for a card.'));
}

function whoHas(limit, amount) {
  const having = limit.namespaces.filter((row) => row[amount.resource] > 0);
  return having.length === 0 ? nothing : html`<ul class="plain">${having.map((row) => html`<li>
    ${row.namespace || html`<span class="dim">others</span>`} ${AMOUNTS[amount.resource](row[amount.resource])}</li>`)}</ul>`;
}

const AMOUNTS = { memory: bytes, cores: (amount) => `${cards(amount)} cards' cores`, cards: String, claims: String };

function quotas(view, searched) {
  const lines = [];
  for (const quota of view.quotas.rows) {
    for (const limit of quota.limits) {
      for (const amount of limit.amounts) {
        const most = (amount.guaranteed ?? 0) + (amount.burst ?? 0);
        lines.push({ name: `${quota.name} ${limit.name} ${amount.resource}`, cells: [`${quota.name} (${many(quota.namespaces, 'namespace')})`, limit.models.length ? `${limit.name}: ${limit.models.join(', ')}` : limit.name,
          amount.resource,
          html`${AMOUNTS[amount.resource](amount.used)} of ${AMOUNTS[amount.resource](most)} ${limit.borrows ? html`<b class="warn">borrows</b>` : nothing}
            <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${percent(amount.used, most)}>
              <rect class="held" x="0" y="0" height="10" width=${part(amount.guaranteed ?? 0, most)}></rect>
              <rect class="used" x="0" y="5" height="5" width=${part(amount.used, most)}></rect></svg>`,
          whoHas(limit, amount)] });
      }
    }
    if (quota.problem) {
      lines.push({ name: quota.name, cells: [quota.name, html`<span class="bad">${quota.problem}</span>`, '', '', ''] });
    }
  }
  return html`${table(['Quota', 'Limit', 'Of', 'Used; what is guaranteed is shaded, the rest is borrowed', 'By namespace'], lines, noRow(searched, 'There is no GpuQuota.'))}`;
}

/** Lines over time: one where samples are, none over gaps, the times before which nothing is known. */
function curve(samples, gaps, lines) {
  const first = samples[0].at;
  const span = Math.max(1, samples[samples.length - 1].at - first);
  const path = (value) => samples.map((sample, i) =>
    `${i && !gaps.has(sample.at) ? 'L' : 'M'}${(100 * (sample.at - first) / span).toFixed(2)} ${(40 - 40 * Math.min(1, value(sample))).toFixed(2)}`).join('');
  return html`<svg class="curve" viewBox="0 -1 100 42" preserveAspectRatio="none" role="img" aria-label=${lines.map((line) => line.name).join(', ')}>
    ${lines.map((line) => svg`<path class=${line.of} d=${path(line.value)}></path>`)}</svg>`;
}

function history(view) {
  const samples = view.samples;
  const gaps = new Set(view.gaps);
  if (samples.length < 2) {
    return html`<p class="message">Curves appear when two samples are there: one is taken a minute.</p>`;
  }
  const last = samples[samples.length - 1];
  const most = Math.max(1, ...samples.map((sample) => sample.waiting));
  return html`<p class="dim">From ${new Date(samples[0].at * 1000).toLocaleString()} to ${new Date(last.at * 1000).toLocaleString()}:
      at most a day. Where a line is broken, nothing is known.</p>
    <h2>Memory</h2><p class="legend"><span><i class="others"></i>held: ${percent(last.totals.memoryAllocated, last.totals.memory)} now</span>
      <span><i class="used"></i>used: ${percent(last.totals.memoryUsed, last.totals.memory)} now</span><span>from 0 to 100 %</span></p>
    ${curve(samples, gaps, [{ name: 'memory held', of: 'allocated', value: (s) => part(s.totals.memoryAllocated, s.totals.memory) / 100 },
      { name: 'memory used', of: 'used', value: (s) => part(s.totals.memoryUsed, s.totals.memory) / 100 }])}
    <h2>Cores</h2><p class="legend"><span><i class="others"></i>set aside: ${percent(last.totals.coresAllocated, last.totals.cores)} now</span>
      <span><i class="used"></i>used: ${percent(last.totals.coresUsed, last.totals.cores)} now</span><span>from 0 to 100 %</span></p>
    ${curve(samples, gaps, [{ name: 'cores set aside', of: 'allocated', value: (s) => part(s.totals.coresAllocated, s.totals.cores) / 100 },
      { name: 'cores used', of: 'used', value: (s) => part(s.totals.coresUsed, s.totals.cores) / 100 }])}
    <h2>Pods that wait</h2><p class="legend"><span>${last.waiting} now</span><span>from 0 to ${most}</span></p>
    ${curve(samples, gaps, [{ name: 'pods that wait', of: 'used', value: (s) => s.waiting / most }])}`;
}

/** Names with what is said of each; a name may be among several of these, such as one that a tenant chose. */
const pairs = (...fields) => html`<dl>${fields.flatMap((each) => Object.entries(each)).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** Bytes of a Kubernetes quantity of memory, such as 25900Mi; undefined if it is none. */
function quantity(text) {
  const found = /^(\d+)([KMGTP]i)?$/.exec(text ?? '');
  return found ? Number(found[1]) * 1024 ** (1 + ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'].indexOf(found[2])) : undefined;
}

function memoryOf(data) {
  const [limit, used] = [quantity(data.memoryLimit), quantity(data.memoryUsed)];
  return limit === undefined || used === undefined ? nothing
    : html`<p>${gauge(used, limit, (amount) => `${bytes(amount)} of ${bytes(limit)} used`)}</p>`;
}

/** Whether something is wrong by a condition: most say what should be, one what should not, and one neither. */
const isBad = ({ type, status }) => type !== 'MemoryLent' && status === (type === 'InstanceFailed' ? 'True' : 'False');

function claim(view) {
  return html`<h2>Claim ${view.namespace}/${view.name}</h2>
    <div class="box">${pairs({ created: view.created, 'used by': view.users.join(', ') || 'nobody' }, view.annotations)}</div>
    ${view.devices.map((device) => html`<h2>Device ${device.device} of pool ${device.pool} <span class="dim">request ${device.request}, driver ${device.driver}</span></h2>
      <div class="box">${memoryOf(device.data)}${pairs(device.data)}</div>
      ${table(['Condition', 'Status', 'Reason', 'Message', 'For'],
        device.conditions.map((each) => ({ name: each.type, cells: [each.type, html`<b class=${isBad(each) ? 'bad' : ''}>${each.status}</b>`, each.reason, each.message, ago(each.since)] })),
        'Its node has not said anything of it yet.')}`)}
    ${view.devices.length ? nothing : html`<p class="message">It is not allocated. Its pods' page says why, where they wait: see <a href="#/pods?q=${encodeURIComponent(view.namespace)}">pods that wait</a>.</p>`}
    <h2>Events</h2>
    ${view.events ? table(['Last', 'Type', 'Reason', 'Message', 'Count'],
      view.events.map((event) => ({ name: event.reason, cells: [ago(event.last), html`<span class=${event.type === 'Warning' ? 'warn' : ''}>${event.type}</span>`, event.reason, event.message, event.count] })),
      'None.') : html`<p class="message">You may not list events in this namespace.</p>`}`;
}

/** What is said of nodes that are alike, and the names of the first of them. */
function nodesAlike({ nodes, cards, reason, byCard }) {
  const one = nodes.length === 1;
  return html`<section class="node box"><h3>${one ? nodes[0] : many(nodes.length, 'node')}
      <span class="dim">${many(cards, 'card')}${one ? '' : ' each'}</span></h3>
    ${one ? nothing : html`<p class="dim">${nodes.slice(0, 20).join(', ')}${nodes.length > 20 ? ` and ${nodes.length - 20} more` : ''}</p>`}
    <p>${reason}</p>${Object.keys(byCard).length ? pairs(byCard) : nothing}</section>`;
}

function pod(view) {
  return html`<h2>Pod ${view.namespace}/${view.name}</h2>
    ${view.waiting ? html`<p class="message">Waits for ${ago(view.waiting.since)}: ${view.waiting.reason}. ${view.explanation?.summary ?? view.waiting.message}</p>` : view.explanation ? nothing : html`<p>It does not wait for a card.</p>`}
    ${view.hint ? html`<p class="dim">${view.hint}</p>` : nothing}
    ${view.explanation ? html`${view.waiting ? nothing : html`<p><b>${view.explanation.state}</b>: ${view.explanation.summary}</p>`}
      ${rows(view.explanation.nodes.slice(0, 200), (alike) => alike.nodes[0], nodesAlike)}
      ${view.explanation.nodes.length > 200 ? html`<p class="dim">and ${view.explanation.nodes.length - 200} more kinds of nodes: <code>kubectl partita explain pod ${view.name} -n ${view.namespace}</code></p>` : nothing}` : nothing}`;
}

/** By the view's name. */
export const VIEWS = {
  nodes: { draw: nodes, paged: (view) => view.nodes, sorts: { name: 'by name', allocated: 'most held first', used: 'most used first', free: 'most free first' } },
  claims: { draw: claims, paged: (view) => view.claims, sorts: { name: 'by name', memory: 'most memory first', used: 'most used first' } },
  pods: { draw: pods, paged: (view) => view.pods },
  quotas: { draw: quotas, paged: (view) => view.quotas },
  history: { draw: history },
  claim: { draw: claim },
  pod: { draw: pod },
};
