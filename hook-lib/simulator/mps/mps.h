/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's Multi-Process Service, as far as Partita uses it: what the control daemon, its servers and their clients
 * say to each other. The files in the pipe folder, what the front end prints and its exit statuses are those of
 * NVIDIA's own nvidia-cuda-mps-control 535 and 550, which run without a card. Their wire format is not known, so ours
 * is another one: one packet each way. A front end sends "UI <command>" and gets what is to be printed; a client sends
 * "CLIENT <name>", the name of a shared memory object that it has made, and gets "SERVER <pid>" or "ERROR <why>".
 */
#ifndef PARTITA_SIM_MPS_H
#define PARTITA_SIM_MPS_H

#define MPS_DEFAULT_PIPE "/tmp/nvidia-mps"
#define MPS_DEFAULT_LOG "/var/log/nvidia-mps"
#define MPS_SERVER "nvidia-cuda-mps-server"

enum { MPS_PACKET = 1024 };

/* The value of a variable, or what stands for it where it is not set. */
const char *mps_folder(const char *variable, const char *otherwise);

/* A socket that is connected to the daemon of that pipe folder; -1 with errno if there is none. */
int mps_connect(const char *pipe);

/* Sends one packet and waits for the answer, which gets a 0 at its end; its length, or -1. */
long mps_ask(int socket, const char *question, char answer[MPS_PACKET]);

int mps_daemon(const char *pipe, const char *log, int foreground);

#endif
