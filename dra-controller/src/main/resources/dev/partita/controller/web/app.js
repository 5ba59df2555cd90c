// The page: which view is open, what the server sends of it, and with whose token.
import { html, render, nothing } from './lit/lit-html.js';
import { VIEWS } from './parts.js';

const TABS = { nodes: 'Nodes', claims: 'Claims', pods: 'Waiting pods', quotas: 'Quotas', history: 'Last day' };
const AGAIN = 3000;
const OLDER = 10000;
const SILENT = 60000; // the server says something every 15 s, or later while it waits for the API server
// The server ends what it has not answered for half a minute.
const UNANSWERED = 'No answer from the controller yet; asking anew. If it stays so, see whether the command that opened this'
  + ' page still runs, and look at the controller\'s log: it answers late where the API server does.';
let root = document.getElementById('app');

// A token is kept in this tab alone, and never stands in an address for longer than it takes to read it.
let token = sessionStorage.getItem('token') ?? '';

const state = { path: 'nodes', query: new URLSearchParams(), shown: null, problem: '', live: false };
let following = new AbortController();

/** Keeps a token; a browser refuses to send one with other characters, and does not say why. */
function keep(given) {
  const known = /^[\x21-\x7e]*$/.test(given);
  token = known ? given : '';
  sessionStorage.setItem('token', token);
  state.problem = known ? '' : 'This is no token: it has a character that no token has, such as a typographic quotation mark.';
}

/** Who wrote the address by hand may have escaped nothing. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Takes the token that the address hands over, be it the first one or another. */
function takeToken() {
  const handed = /^#token=([^&]+)(.*)$/.exec(location.hash);
  if (handed) {
    keep(decoded(handed[1]));
    history.replaceState(null, '', '#/nodes');
    state.shown = null;
  }
}

function route() {
  takeToken();
  const [, path, query] = /^#?\/?([^?]*)\??(.*)$/.exec(location.hash);
  // Another part of the same list replaces this one when it is there.
  const another = state.path !== (path || 'nodes');
  if (another) {
    state.shown = null;
  }
  state.path = path || 'nodes';
  state.query = new URLSearchParams(query);
  state.problem = token ? '' : state.problem;
  follow();
  draw();
  const field = document.querySelector('input[type=search]');
  if (field && another) {
    field.value = state.query.get('q') ?? ''; // not what was typed for the view before
  }
}

function address(changes) {
  const query = new URLSearchParams(state.query);
  for (const [name, value] of Object.entries(changes)) {
    value ? query.set(name, value) : query.delete(name);
  }
  return `#/${state.path}${query.size ? `?${query}` : ''}`;
}

/**
 * Follows the open view until another one is opened; a connection that ends is made anew. A tab that nobody sees
 * follows nothing: browsers open six connections to a server at most, and the seventh tab would stay empty.
 */
async function follow() {
  following.abort();
  const mine = new AbortController();
  following = mine;
  state.live &&= !document.hidden;
  while (token && !document.hidden && !mine.signal.aborted) {
    const open = new AbortController();
    mine.signal.addEventListener('abort', () => open.abort(), { signal: open.signal });
    const heard = silence(open);
    try {
      const answer = await fetch(`/api/stream/${state.path}?${state.query}`,
        { headers: { Authorization: `Bearer ${token}` }, signal: open.signal, cache: 'no-store' });
      if (answer.status === 401) {
        forget(await answer.text());
        return;
      }
      if (!answer.ok) {
        state.problem = await answer.text();
      } else {
        await read(answer.body, mine.signal, heard);
      }
    } catch (failure) {
      if (mine.signal.aborted) {
        return;
      }
      if (open.signal.aborted) {
        state.problem = 'Nothing has come from the controller for a minute; asking anew.';
      }
    } finally {
      open.abort(); // and with it what was to happen in silence
    }
    if (!state.shown && !state.problem && !mine.signal.aborted) {
      state.problem = UNANSWERED;
    }
    state.live = false;
    draw();
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

/** Ends a connection over which nothing comes: a proxy may keep one whose other end has gone. Gives what to call. */
function silence(open) {
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => open.abort(), SILENT);
  };
  open.signal.addEventListener('abort', () => clearTimeout(timer));
  heard();
  return heard;
}

/** Server-sent events, as WHATWG's HTML standard has them; each has one line of data here. */
async function read(body, signal, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) {
      return;
    }
    heard();
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const data = /^data: ([^\n]*)/m.exec(event);
      if (data) {
        take(/^event: (.*)$/m.exec(event)[1], JSON.parse(data[1]));
      }
    }
  }
}

function take(kind, data) {
  state.live = true;
  if (kind === 'view') {
    state.shown = data;
    state.problem = '';
  } else if (data.status === 401) {
    forget(data.why);
    return;
  } else {
    if (data.status === 403) {
      state.shown = null; // he may not see it any more
    }
    state.problem = data.why;
  }
  draw();
}

/** What the token has shown goes with it, and nothing more comes. */
function forget(why) {
  following.abort();
  token = '';
  sessionStorage.removeItem('token');
  state.shown = null;
  state.live = false;
  state.problem = why;
  draw();
}

function login(event) {
  event.preventDefault();
  keep(new FormData(event.target).get('token').replace(/\s+/g, '')); // a terminal's lines end within it
  route();
}

/** The view that the address names: it is not yet the open one where a link was followed just now. */
const named = () => /^#?\/?([^?]*)/.exec(location.hash)[1];

let typing;
function find(event) {
  const view = named();
  clearTimeout(typing);
  typing = setTimeout(() => {
    if (named() === view) {
      search(event.target.value);
    }
  }, 250);
}

/** Who leaves the field has typed to the end: what is opened next comes after the search. */
function found(event) {
  clearTimeout(typing);
  search(event.target.value);
}

function search(text) {
  if (text !== (state.query.get('q') ?? '')) {
    location.hash = address({ q: text, page: '' });
  }
}

const loginForm = () => html`<main class="login"><h1>Partita</h1>
  ${state.problem ? html`<p class="message" role="alert">${state.problem}</p>` : nothing}
  <form @submit=${login}><label for="token">A bearer token of the cluster. You see what its user may list.</label>
    <textarea id="token" name="token" required autocomplete="off" spellcheck="false"></textarea><button>Show the cluster</button></form>
  <p class="dim"><code>kubectl partita web</code> opens this page with your own token, and
    <code>kubectl create token NAME -n NAMESPACE</code> prints one of a ServiceAccount.</p></main>`;

function finder(kind) {
  return html`<form class="find" role="search" @submit=${(event) => event.preventDefault()}>
    <input type="search" aria-label="Search" placeholder="Search: names, models, namespaces" .value=${state.query.get('q') ?? ''} @input=${find} @change=${found}>
    ${kind.sorts ? html`<select aria-label="Sort" @change=${(event) => { location.hash = address({ sort: event.target.value, page: '' }); }}>
      ${Object.entries(kind.sorts).map(([sort, words]) => html`<option value=${sort} .selected=${(state.query.get('sort') ?? 'name') === sort}>${words}</option>`)}</select>` : nothing}
  </form>`;
}

function pages(paged) {
  return paged.pages < 2 ? nothing : html`<nav class="pages" aria-label="Pages">
    ${paged.page > 1 ? html`<a href=${address({ page: paged.page - 1 })} rel="prev">Previous</a>` : nothing}
    <span>page ${paged.page} of ${paged.pages}, ${paged.total} in all</span>
    ${paged.page < paged.pages ? html`<a href=${address({ page: paged.page + 1 })} rel="next">Next</a>` : nothing}</nav>`;
}

/** Draws the page. What it cannot read is of another version of the controller: a tab stays open over a rollout. */
function draw() {
  try {
    drawAll();
  } catch (failure) {
    console.error(failure);
    following.abort();
    state.shown = null;
    state.live = false;
    state.problem = 'This page cannot show what the controller sends: the controller has another version now. Load the page anew.';
    const empty = root.cloneNode(false); // what was half drawn cannot be drawn upon
    root.replaceWith(empty);
    root = empty;
    drawAll();
  }
}

function drawAll() {
  if (!token) {
    render(loginForm(), root);
    return;
  }
  const name = state.path.split('/')[0];
  const kind = VIEWS[name];
  document.title = `${TABS[name] ?? state.path} · Partita`;
  const shown = state.shown;
  render(html`<a class="skip" href="#main" @click=${(event) => { event.preventDefault(); document.getElementById('main').focus(); }}>To the content</a>
    <header><h1>Partita</h1>
      <nav aria-label="Views">${Object.entries(TABS).map(([path, words]) =>
        html`<a href="#/${path}" aria-current=${path === name ? 'page' : nothing}>${words}</a>`)}</nav>
      <span class="live ${state.live ? '' : 'off'}" role="status">${state.live ? 'live' : 'not connected'}</span>
      <button @click=${() => forget('')}>Forget the token</button></header>
    <main id="main" tabindex="-1">
      ${kind?.paged ? finder(kind) : nothing}
      ${state.problem ? html`<p class="message" role="alert">${state.problem}</p>` : nothing}
      ${shown && !shown.complete ? html`<p class="message">Your rights in some namespaces are still being asked about; more may appear.</p>` : nothing}
      ${shown && kind ? html`${kind.draw(shown.view, Boolean(state.query.get('q')))}${kind.paged ? pages(kind.paged(shown.view)) : nothing}`
        : state.problem ? nothing : html`<p class="dim">Asking the controller…</p>`}
    </main>`, root);
}

// What the page says of times gets older although nothing else changes.
setInterval(draw, OLDER);
window.addEventListener('hashchange', route);
document.addEventListener('visibilitychange', () => {
  follow();
  draw();
});
route();
